/** One line of a plot: its name, and its points. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

interface Chart {
  readonly title: string;
  readonly series: readonly Series[];
}

const WIDTH = 420;
const HEIGHT = 300;
/** Room around the lines of a chart. */
const LEFT = 58;
const RIGHT = 24;
const TOP = 96;
const BOTTOM = 34;
const LEGEND_COLUMNS = 2;
const COLORS = ['#5070dd', '#b6d634', '#505372', '#ff994d', '#0ca8df', '#ffd10a', '#fb628b', '#785db0'];

/** Plots figures over the feedback, side by side, both axes logarithmic. @returns an SVG document */
export function plotGrowth(charts: readonly Chart[]): string {
  const width = WIDTH * charts.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" font-family="sans-serif" font-size="10">
<rect width="${width}" height="${HEIGHT}" fill="#fff"/>
${charts.map((chart, at) => `<g transform="translate(${at * WIDTH} 0)">\n${plotOne(chart)}\n</g>`).join('\n')}
</svg>
`;
}

function plotOne({ title, series }: Chart): string {
  const drawn = series.map(({ name, points }) => ({ name, points: points.filter(([, y]) => y > 0) }));
  const points = drawn.flatMap((one) => one.points);
  const xOf = logScale(
    points.map(([x]) => x),
    LEFT,
    WIDTH - RIGHT,
  );
  const yOf = logScale(
    points.map(([, y]) => y),
    HEIGHT - BOTTOM,
    TOP,
  );
  return [
    text(8, 18, title, 'font-size="13" font-weight="bold"'),
    ...drawn.map(({ name }, at) => {
      const [x, y] = [
        8 + (at % LEGEND_COLUMNS) * (WIDTH / LEGEND_COLUMNS),
        36 + Math.floor(at / LEGEND_COLUMNS) * 14,
      ];
      return `<rect x="${x}" y="${y - 6}" width="12" height="6" fill="${colorOf(at)}"/>${text(x + 16, y, name)}`;
    }),
    ...xOf.ticks.map((x) => text(xOf.at(x), HEIGHT - BOTTOM + 13, short(x), 'text-anchor="middle"')),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, 'feedback', 'text-anchor="middle"'),
    ...yOf.ticks.map((y) => {
      const place = yOf.at(y);
      const line = `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${place}" y2="${place}" stroke="#ddd"/>`;
      return line + text(LEFT - 6, place + 3, short(y), 'text-anchor="end"');
    }),
    ...drawn.flatMap((one, at) => {
      const places = one.points.map(([x, y]) => [xOf.at(x), yOf.at(y)] as const);
      const color = colorOf(at);
      const line = places.map(([x, y]) => `${x},${y}`).join(' ');
      return [
        `<polyline points="${line}" fill="none" stroke="${color}" stroke-width="2"/>`,
        ...places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="#fff" stroke="${color}"/>`),
      ];
    }),
  ].join('\n');
}

/** A logarithmic scale over whole powers of ten that hold all values, onto the range of pixels. */
function logScale(values: readonly number[], from: number, to: number) {
  const logs = values.map(Math.log10);
  const low = logs.length === 0 ? 0 : Math.floor(Math.min(...logs));
  const high = Math.max(low + 1, Math.ceil(Math.max(...logs)));
  const at = (value: number) => Math.round(from + ((Math.log10(value) - low) / (high - low)) * (to - from));
  return { at, ticks: Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n)) };
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" ${attributes}>${escaped}</text>`;
}

function short(value: number): string {
  return value >= 1e4 || value < 1e-3 ? value.toExponential(0).replace('+', '') : String(value);
}

function colorOf(at: number): string {
  return COLORS[at % COLORS.length]!;
}
