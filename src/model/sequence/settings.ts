/** Likes of a user that are at most so many apart say something of one another. */
export const WINDOW = 20;
/** A pair that is d likes apart counts d ^ -DISTANCE_EXPONENT. */
export const DISTANCE_EXPONENT = 0.5;
/** Weight of going back, from the later item to the earlier one, against going on. */
export const BACKWARD = 0.5;
/** A count is divided by both items' number of likes to this power: between counts and their cosine. */
export const FREQUENCY_EXPONENT = 0.25;
