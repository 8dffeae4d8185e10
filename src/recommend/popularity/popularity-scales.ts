const HOUR_MS = 3_600_000;

/** After so long a record counts half: an hour, half a day, days, weeks, months. */
export const HALF_LIVES_MS = [1, 12, 48, 168, 720, 2880].map((hours) => hours * HOUR_MS);

/** The names of the scales: one for each half-life, and the one that forgets nothing. */
export const POPULARITY_SCALES = ['1h', '12h', '2d', '7d', '30d', '120d', 'ever'] as const;
