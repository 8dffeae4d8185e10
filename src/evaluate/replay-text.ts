import type { ReplayGroup, ReplayRow, ReplayTable } from '../domain/evaluation-schemas.ts';
import { counted, groupDigits } from '../domain/group-digits.ts';
import { judgeGroup } from './conclusion.ts';

/** The replay as text for a terminal; its tables are Markdown too. */
export function renderReplay(replay: ReplayTable): string {
  return [
    describeReplay(replay),
    replay.conclusion,
    alignTable(summaryCells(replay.groups)),
    'NDCG@10 of every way:',
    alignTable(wayCells(replay.groups)),
    'Accuracy beside how alike the lists of people are, asked at one moment:',
    alignTable(varietyCells(replay)),
  ].join('\n\n');
}

/** The span, the fits, and the share of the likes that is judged. */
export function describeReplay(replay: ReplayTable): string {
  const { records, hours, fits, positives, judgeable, questions } = replay;
  const span = hours < 48 ? counted(hours, 'hours') : counted(hours / 24, 'days');
  const share = ((100 * judgeable) / Math.max(1, positives)).toFixed(0);
  return `Replay of the last ${counted(records, 'records')} over ${span}, with ${counted(fits, 'fits')}: ${counted(questions, 'questions')}. Of ${counted(positives, 'positive records')} ${groupDigits(judgeable)} (${share} %) can be judged: repeats and items that nobody had heard of are left out.`;
}

/** One line a kind of question: the served lists beside the best simple way. */
export function summaryCells(groups: readonly ReplayGroup[]): string[][] {
  const lines = groups.map((group) => {
    const { served, best, outcome } = judgeGroup(group);
    return [
      group.name,
      groupDigits(group.questions),
      served.ndcg.mean.toFixed(3),
      best.ndcg.mean.toFixed(3),
      best.name,
      showLead(best),
      outcome,
    ];
  });
  return [['', 'questions', 'served', 'best simple way', '', 'lead of served', ''], ...lines];
}

/** One line a way, one column a kind of question. */
export function wayCells(groups: readonly ReplayGroup[]): string[][] {
  const ways = groups[0]?.rows.map(({ name }) => name) ?? [];
  const lines = ways.map((way, at) => [way, ...groups.map(({ rows }) => rows[at]!.ndcg.mean.toFixed(3))]);
  return [['', ...groups.map(({ name }) => name)], ...lines];
}

/** One line a way: accuracy beside how much the lists of people differ, and which hits a counter did not have. */
export function varietyCells({ variety, groups }: ReplayTable): string[][] {
  const lines = groups[0]!.rows.flatMap(({ name, ndcg, hits, hitsBeyondCounter }) => {
    const its = variety[name];
    if (its === undefined) return [];
    const { items, shared, topTenShare } = its;
    const alike = [groupDigits(items), shared.toFixed(1), `${(100 * topTenShare).toFixed(0)} %`];
    return [[name, ndcg.mean.toFixed(3), ...alike, groupDigits(hits), groupDigits(hitsBeyondCounter)]];
  });
  const alike = ['different items', 'two people share, of 10', 'places of the top ten'];
  return [['', 'NDCG@10', ...alike, 'hits', 'not in the best counter'], ...lines];
}

/** The lead of the served lists over a way, with its 95 % interval. */
function showLead({ againstServed: { mean, halfWidth } }: ReplayRow): string {
  return `${mean <= 0 ? '+' : '-'}${Math.abs(mean).toFixed(3)} ± ${halfWidth.toFixed(3)}`;
}

/** A Markdown table whose columns are aligned: the first to the left, all others to the right. @param cells the head first */
export function alignTable(cells: readonly (readonly string[])[]): string {
  const widths = cells[0]!.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  const lines = cells.map((row) => {
    const padded = row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)));
    return `| ${padded.join(' | ')} |`;
  });
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return lines.join('\n');
}
