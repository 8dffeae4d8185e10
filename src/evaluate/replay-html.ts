import type { ReplayTable } from '../domain/evaluation-schemas.ts';
import { escapeHtml, htmlTable } from './html-table.ts';
import { describeReplay, summaryCells, varietyCells, wayCells } from './replay-text.ts';

/** The plot: its size, and the room for its axes. */
const [WIDTH, HEIGHT, EDGE] = [720, 360, 50];
const TEN = 10;
/** Ways whose points are joined, with their weight: the line of a counter with more and more of EASE. */
const LINE = /^log\(.*\+ ([\d.]+) /;

export function renderReplayHtml(replay: ReplayTable): string {
  return `<h2>Replay: as people meet it</h2>
<p>${escapeHtml(describeReplay(replay))}</p>
<p class="answer">${escapeHtml(replay.conclusion)}</p>
${htmlTable(summaryCells(replay.groups))}
<h3>Right for the person, or the same for all?</h3>
<p>Higher is more accurate, further left is more personal. The line is a counter of two days with a times EASE, a growing from right
to left; spans are those of the counters.</p>
${plot(replay)}
${htmlTable(varietyCells(replay))}
<h3>NDCG@10 of every way</h3>
${htmlTable(wayCells(replay.groups))}`;
}

/** Accuracy of each way over what two people's lists share. */
function plot({ groups, variety }: ReplayTable): string {
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
