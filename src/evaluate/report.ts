import type { EvaluationReport, EvaluationRow, EvaluationTable } from '../domain/evaluation-schemas.ts';
import { counted, countedRecords } from '../domain/group-digits.ts';
import type { Protocol } from './hold-out-protocol.ts';

export const SHOWN_METRICS = ['NDCG@10', 'HR@10', 'Recall@20', 'MRR@20', 'Coverage@10'] as const;

const PROTOCOL_TEXT: Readonly<Record<Protocol, string>> = {
  temporal: 'the latest feedback of all held out',
  last: 'the latest feedback of each user held out',
};

/** A table's heading: protocol and users. */
export function describeTable({ protocol, users }: EvaluationTable): string {
  return `${PROTOCOL_TEXT[protocol]}, ${counted(users, 'users')}, the whole catalog`;
}

/** The report as text for a terminal; also a Markdown table. */
export function renderText(report: EvaluationReport): string {
  const head = `${report.source}: ${countedRecords(report)}; positive: ${report.positiveTypes.join(', ')}`;
  return [head, ...report.tables.map(renderTable)].join('\n\n');
}

function renderTable(table: EvaluationTable): string {
  const cells = [
    ['', ...SHOWN_METRICS, 'against served', 'fit, s'],
    ...table.rows.map((row) => [
      row.name,
      ...SHOWN_METRICS.map((name) => showMetric(row, name)),
      row.role === 'served' ? '' : showDifference(row),
      row.fitSeconds === undefined ? '' : row.fitSeconds.toFixed(1),
    ]),
  ];
  const widths = cells[0]!.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  const lines = cells.map(
    (row) =>
      `| ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join(' | ')} |`,
  );
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return [`${describeTable(table)}:`, '', ...lines, '', table.conclusion].join('\n');
}

/** A metric with the half width of its 95 % interval. */
export function showMetric({ metrics }: EvaluationRow, name: string): string {
  const { mean = 0, halfWidth = 0 } = metrics[name] ?? {};
  return halfWidth === 0 ? mean.toFixed(4) : `${mean.toFixed(4)} ± ${halfWidth.toFixed(4)}`;
}

/** The paired difference to the served lists. */
export function showDifference({ againstServed: { mean, halfWidth } }: EvaluationRow): string {
  return `${mean >= 0 ? '+' : ''}${mean.toFixed(4)} ± ${halfWidth.toFixed(4)}`;
}
