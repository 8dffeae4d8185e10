import Papa from 'papaparse';
import { type PlacementReport, PlacementReportSchema } from '../../domain/placement-schemas.ts';
import { json } from '../route/reply.ts';
import { type Route, routesOf } from '../route/route.ts';

const route = routesOf('Admin');
const CSV_TYPE = 'text/csv; charset=utf-8';
const FIGURES = ['Lists', 'Users', 'Shown', 'Clicked', 'Named', 'InWindow', 'Converted', 'Beyond'] as const;

/** The routes of what came of the lists of placements. */
export const placementRoutes: readonly Route[] = [
  route('GET', '/api/admin/placements', {
    needsNoModel: true,
    summary: 'What came of the lists of placements, in all and by day',
    description:
      'Out of what was shown, as `POST /api/impressions` told, and the feedback there is; at most a minute old. Feedback counts ' +
      'on the day on which its list was first seen. No users are named.',
    response: { description: 'By placement and variant', schema: PlacementReportSchema },
    handler: async (_request, { placementReports }) => json(await placementReports.current()),
  }),
  route('GET', '/api/admin/placements.csv', {
    needsNoModel: true,
    summary: 'The same as CSV, a row for each placement, variant and day',
    response: { description: 'A column for the count and the Value of each type', contentType: CSV_TYPE },
    async handler(_request, { placementReports }) {
      return {
        status: 200,
        contentType: CSV_TYPE,
        body: toCsv(await placementReports.current()),
        headers: [['Content-Disposition', 'attachment; filename="placements.csv"']],
      };
    },
  }),
];

function toCsv({ Placements }: PlacementReport): string {
  const types = [...new Set(Placements.flatMap(({ Feedback }) => Feedback.map(({ Type }) => Type)))].sort();
  const head = [
    'Placement',
    'Variant',
    'Day',
    ...FIGURES,
    ...types.flatMap((type) => [type, `${type} Value`]),
  ];
  const rows = Placements.flatMap(({ Placement, Variant, Days }) =>
    Days.map((day) => {
      const byType = new Map(day.Feedback.map((each) => [each.Type, each]));
      const cells = types.flatMap((type) => [byType.get(type)?.Count ?? 0, byType.get(type)?.Value ?? 0]);
      return [Placement, Variant, day.Day, ...FIGURES.map((name) => day[name]), ...cells];
    }),
  );
  return `${Papa.unparse([head, ...rows], { escapeFormulae: true })}\r\n`;
}
