import type { EvaluationReport, EvaluationRow, EvaluationTable } from '../domain/evaluation-schemas.ts';
import { counted, countedRecords } from '../domain/group-digits.ts';
import { renderReplay } from './replay-text.ts';
import { alignTable } from './text-table.ts';

export const SHOWN_METRICS = ['NDCG@10', 'HR@10', 'Recall@20', 'MRR@20', 'Coverage@10'] as const;

/** The columns in words, for people who are no researchers. */
export const LEGEND: readonly (readonly [column: string, meaning: string])[] = [
  [
    'NDCG@10',
    'how high the hidden items stand in lists of ten: 1 when they fill the top, 0 when none is there',
  ],
  ['HR@10', 'the share of users with at least one hidden item among ten'],
  ['Recall@20', 'the share of the hidden items that stand among twenty'],
  ['MRR@20', 'one over the place of the first hidden item, 0.5 for the second place'],
  [
    'Coverage@10',
    "the share of the catalog that stands in anybody's list of ten; more is not better by itself",
  ],
  ['±', 'half of the 95 % interval: what chance alone may move the mean by, 19 times of 20'],
  [
    'against served',
    'NDCG@10 less that of the served lists, of the same users: judge differences by this interval, and not by those of two rows',
  ],
];

/** A table's heading: protocol and users. */
export function describeTable({ users }: EvaluationTable): string {
  return `the latest feedback of all held out, ${counted(users, 'users')}, the whole catalog`;
}

/** The report as text for a terminal; also a Markdown table. */
export function renderText(report: EvaluationReport): string {
  const head = `${report.source}: ${countedRecords(report)}; positive: ${report.positiveTypes.join(', ')}`;
  const { replay, tables } = report;
  const told = [...(replay === undefined ? [] : [renderReplay(replay)]), ...tables.map(renderTable)];
  return [head, ...told, renderLegend()].join('\n\n');
}

function renderLegend(): string {
  const width = Math.max(...LEGEND.map(([column]) => column.length));
  return LEGEND.map(([column, meaning]) => `${column.padEnd(width)}  ${meaning}`).join('\n');
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
  const { conclusion, advice = [] } = table;
  const told = advice.length === 0 ? [] : ['', ...advice.map((sentence) => `- ${sentence}`)];
  return [`${describeTable(table)}:`, '', alignTable(cells), '', conclusion, ...told].join('\n');
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
