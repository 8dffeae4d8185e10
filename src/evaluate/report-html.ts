import type {
  EvaluationReport,
  EvaluationRow,
  EvaluationTable,
  ReplayTable,
} from '../domain/evaluation-schemas.ts';
import { countedRecords } from '../domain/group-digits.ts';
import { MAIN_METRIC } from './conclusion.ts';
import { describeReplay, summaryCells, varietyCells, wayCells } from './replay-text.ts';
import { byLikesCells, describeTable, legendOf, tableCells } from './report.ts';

const BAR_HEIGHT = 26;
const NAME_WIDTH = 330;
const PLOT_WIDTH = 460;

const STYLE = `
:root { color-scheme: light dark; --bar: #4f8a5b; --other: #9aa7b2; --line: #33475b; }
@media (prefers-color-scheme: dark) { :root { --bar: #6fb37f; --other: #66747f; --line: #d5dde5; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { text-align: right; padding: 0.3rem 0.5rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; }
svg { max-width: 100%; height: auto; margin: 1rem 0; }
svg text { fill: currentColor; font-size: 13px; }
tbody tr:first-child { font-weight: 600; }
dt { font-weight: 600; }
.answer { font-size: 1.15rem; }`;

/** The report as one page that needs nothing from elsewhere. */
export function renderHtml(report: EvaluationReport): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Evaluation of ${escapeHtml(report.source)}</title><style>${STYLE}</style></head><body>
<h1>How good are the lists?</h1>
<p>${escapeHtml(report.source)}: ${countedRecords(report)}; positive: ${escapeHtml(report.positiveTypes.join(', '))}.</p>
${report.replay === undefined ? '' : renderReplayHtml(report.replay)}
${report.tables.map(renderTable).join('\n')}
<h2>How to read this</h2>
<p>What people liked was hidden from the service, and their lists were compared with it: one by one in the replay, all at once in the other table.</p>
<dl>${legendOf(report)
    .map(([column, meaning]) => `<dt>${column}</dt><dd>${escapeHtml(meaning)}</dd>`)
    .join('')}</dl>
</body></html>
`;
}

function renderTable(table: EvaluationTable): string {
  const { advice = [] } = table;
  return `<h2>${escapeHtml(describeTable(table))}</h2>
<p class="answer">${escapeHtml(table.conclusion)}</p>
${advice.length === 0 ? '' : `<ul>${advice.map((sentence) => `<li>${escapeHtml(sentence)}</li>`).join('')}</ul>`}
${barPlot(table.rows)}
${htmlTable(tableCells(table))}
<h3>${MAIN_METRIC} by how many likes people had before</h3>
${htmlTable(byLikesCells(table.rows))}`;
}

/** Bars of the main metric with their intervals, best first. */
function barPlot(rows: readonly EvaluationRow[]): string {
  const sorted = [...rows].sort((a, b) => b.metrics[MAIN_METRIC]!.mean - a.metrics[MAIN_METRIC]!.mean);
  const highest = Math.max(
    ...sorted.map(({ metrics }) => metrics[MAIN_METRIC]!.mean + metrics[MAIN_METRIC]!.halfWidth),
    1e-9,
  );
  const x = (value: number) => (NAME_WIDTH + (Math.max(0, value) / highest) * PLOT_WIDTH).toFixed(1);
  const bars = sorted.map(({ name, role, metrics }, at) => {
    const { mean, halfWidth } = metrics[MAIN_METRIC]!;
    const top = at * BAR_HEIGHT;
    const middle = top + BAR_HEIGHT / 2;
    return `<text x="${NAME_WIDTH - 8}" y="${middle + 4}" text-anchor="end">${escapeHtml(name)}</text>
<rect x="${NAME_WIDTH}" y="${top + 4}" width="${(Number(x(mean)) - NAME_WIDTH).toFixed(1)}" height="${BAR_HEIGHT - 8}" fill="var(--${role === 'served' ? 'bar' : 'other'})"/>
<line x1="${x(mean - halfWidth)}" x2="${x(mean + halfWidth)}" y1="${middle}" y2="${middle}" stroke="var(--line)" stroke-width="2"/>
<text x="${Number(x(mean + halfWidth)) + 6}" y="${middle + 4}">${mean.toFixed(3)}</text>`;
  });
  const width = NAME_WIDTH + PLOT_WIDTH + 60;
  return `<svg viewBox="0 0 ${width} ${sorted.length * BAR_HEIGHT}" width="${width}" role="img" aria-label="${MAIN_METRIC} of each">${bars.join('')}</svg>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** A table of a page that scrolls by itself where that is narrow. @param cells the head first */
function htmlTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
  return `<div class="scroll"><table><thead>${line(head, 'th')}</thead><tbody>${rows.map((row) => line(row, 'td')).join('')}</tbody></table></div>`;
}

/** The plot: its size, and the room for its axes. */
const [WIDTH, HEIGHT, EDGE] = [720, 360, 50];
const TEN = 10;
/** Ways whose points are joined, with their weight: the line of a counter with more and more of EASE. */
const LINE = /^log\(.*\+ ([\d.]+) /;

function renderReplayHtml(replay: ReplayTable): string {
  return `<h2>Replay: as people meet it</h2>
<p>${escapeHtml(describeReplay(replay))}</p>
<p class="answer">${escapeHtml(replay.conclusion)}</p>
${htmlTable(summaryCells(replay.groups))}
<h3>Right for the person, or the same for all?</h3>
<p>Higher is more accurate, further left is more personal. The line is a counter of two days with a times EASE, a growing from right
to left; spans are those of the counters.</p>
${scatterPlot(replay)}
${htmlTable(varietyCells(replay))}
<h3>NDCG@10 of every way</h3>
${htmlTable(wayCells(replay.groups))}`;
}

/** Accuracy of each way over what two people's lists share. */
function scatterPlot({ groups, variety }: ReplayTable): string {
  const points = groups[0]!.rows.flatMap(({ name, role, ndcg }) => {
    const shared = variety[name]?.shared;
    return shared === undefined ? [] : [{ name, role, shared, ndcg: ndcg.mean }];
  });
  const highest = Math.max(1e-9, ...points.map(({ ndcg }) => ndcg));
  const x = (shared: number) => (EDGE + (shared / TEN) * (WIDTH - 2 * EDGE)).toFixed(1);
  const y = (ndcg: number) => (HEIGHT - EDGE - (ndcg / highest) * (HEIGHT - 2 * EDGE)).toFixed(1);
  const line = points
    .filter(({ name }) => LINE.test(name))
    .map(({ shared, ndcg }) => `${x(shared)},${y(ndcg)}`);
  const marks = points.map(({ name, role, shared, ndcg }) => {
    const weight = LINE.exec(name)?.[1];
    const label = weight === undefined ? name.replace('most liked, ', '') : `a = ${weight}`;
    const place = weight === undefined ? { right: 8, down: -6 } : { right: -12, down: 20 };
    const [size, color] = role === 'served' ? [7, 'bar'] : [4, 'other'];
    return `<circle cx="${x(shared)}" cy="${y(ndcg)}" r="${size}" fill="var(--${color})"><title>${escapeHtml(name)}: ${ndcg.toFixed(3)}, ${shared.toFixed(1)} of ten</title></circle><text x="${Number(x(shared)) + place.right}" y="${Number(y(ndcg)) + place.down}">${escapeHtml(label)}</text>`;
  });
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" role="img" aria-label="NDCG@10 over what two people's lists share">
<line x1="${EDGE}" y1="${HEIGHT - EDGE}" x2="${WIDTH - EDGE}" y2="${HEIGHT - EDGE}" stroke="var(--line)"/>
<line x1="${EDGE}" y1="${EDGE}" x2="${EDGE}" y2="${HEIGHT - EDGE}" stroke="var(--line)"/>
<text x="${WIDTH / 2}" y="${HEIGHT - 12}" text-anchor="middle">items of ten that two people share, 0 to 10</text>
<text x="${EDGE}" y="${EDGE - 16}">NDCG@10, 0 to ${highest.toFixed(3)}</text>
<polyline points="${line.join(' ')}" fill="none" stroke="var(--line)"/>
${marks.join('\n')}</svg>`;
}
