import type { EvaluationReport, EvaluationRow, EvaluationTable } from '../domain/evaluation-schemas.ts';
import { counted, countedRecords, groupDigits } from '../domain/group-digits.ts';
import type { Estimate } from '../model/evaluation/confidence-interval.ts';
import { MAIN_METRIC } from './conclusion.ts';
import { alignTable, renderReplay } from './replay-text.ts';

export const SHOWN_METRICS = ['NDCG@10', 'HR@10', 'Recall@20', 'MRR@20'] as const;

/** The columns in words, for people who are no researchers. */
export const LEGEND: readonly (readonly [column: string, meaning: string])[] = [
  [
    'NDCG@10',
    'how high the hidden items stand in lists of ten: 1 when they fill the top, 0 when none is there',
  ],
  ['HR@10', 'the share of users with at least one hidden item among ten'],
  ['Recall@20', 'the share of the hidden items that stand among twenty'],
  ['MRR@20', 'one over the place of the first hidden item, 0.5 for the second place'],
  ['items', 'different items in the lists of ten of all who were asked, 1,000 of them at the most'],
  ['alike', 'items of ten that the lists of two people share'],
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
  return [head, ...told, renderLegend(report)].join('\n\n');
}

export function legendOf({ tables }: EvaluationReport): typeof LEGEND {
  return tables.length > 0 ? LEGEND : LEGEND.filter(([column]) => column === MAIN_METRIC || column === '±');
}

function renderLegend(report: EvaluationReport): string {
  const legend = legendOf(report);
  const width = Math.max(...legend.map(([column]) => column.length));
  return legend.map(([column, meaning]) => `${column.padEnd(width)}  ${meaning}`).join('\n');
}

function renderTable(table: EvaluationTable): string {
  const { conclusion, advice = [] } = table;
  const told = advice.length === 0 ? [] : ['', ...advice.map((sentence) => `- ${sentence}`)];
  return [
    `${describeTable(table)}:`,
    '',
    alignTable(tableCells(table)),
    '',
    `${MAIN_METRIC} by how many likes people had before:`,
    '',
    alignTable(byLikesCells(table.rows)),
    '',
    conclusion,
    ...told,
  ].join('\n');
}

/** One line a way: its metrics, how alike lists are, and what learning took. */
export function tableCells({ rows }: EvaluationTable): string[][] {
  return [
    ['', ...SHOWN_METRICS, 'items', 'alike', 'against served', 'fit, s'],
    ...rows.map((row) => [
      row.name,
      ...SHOWN_METRICS.map((name) => showMetric(row, name)),
      groupDigits(row.variety.items),
      row.variety.shared.toFixed(1),
      row.role === 'served' ? '' : showDifference(row),
      row.fitSeconds === undefined ? '' : row.fitSeconds.toFixed(1),
    ]),
  ];
}

/** One line a way, one column a kind of user. */
export function byLikesCells(rows: readonly EvaluationRow[]): string[][] {
  const kinds = (rows[0]?.byLikes ?? []).filter(({ users }) => users > 0).map(({ name }) => name);
  const heads = kinds.map((kind) => {
    const { users = 0 } = rows[0]!.byLikes.find(({ name }) => name === kind) ?? {};
    return `${kind} (${counted(users, 'users')})`;
  });
  const cells = rows.map((row) => [
    row.name,
    ...kinds.map((kind) => showEstimate(row.byLikes.find(({ name }) => name === kind)?.ndcg)),
  ]);
  return [['', ...heads], ...cells];
}

/** A metric with the half width of its 95 % interval. */
export function showMetric({ metrics }: EvaluationRow, name: string): string {
  return showEstimate(metrics[name]);
}

function showEstimate({ mean, halfWidth }: Estimate = { mean: 0, halfWidth: 0 }): string {
  return halfWidth === 0 ? mean.toFixed(4) : `${mean.toFixed(4)} ± ${halfWidth.toFixed(4)}`;
}

export function showDifference({ againstServed: { mean, halfWidth } }: EvaluationRow): string {
  return `${mean >= 0 ? '+' : ''}${mean.toFixed(4)} ± ${halfWidth.toFixed(4)}`;
}
