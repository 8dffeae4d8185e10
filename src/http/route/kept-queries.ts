import { parseQuery, type Query, type QueryName, type QueryRules } from './query-parameters.ts';

/** Queries kept of a route, and characters of the longest: requests of one page of a site have the same. */
const KEPT_MAX = 64;
const LENGTH_MAX = 64;

/** Parses query strings; a frequent one is parsed once and kept. */
export class KeptQueries {
  private readonly rules: QueryRules;
  private readonly byRoute: Map<string, Query>[] = [];

  constructor(rules: QueryRules) {
    this.rules = rules;
  }

  /** As `parseQuery`. @param routeNumber tells the route whose `names` they are */
  read(text: string, routeNumber: number, names: readonly QueryName[]): Query {
    while (this.byRoute.length <= routeNumber) this.byRoute.push(new Map());
    const kept = this.byRoute[routeNumber]!;
    const known = kept.get(text);
    if (known !== undefined) return known;
    const query = parseQuery(text, names, this.rules);
    if (kept.size === KEPT_MAX) kept.clear();
    if (text.length <= LENGTH_MAX) kept.set(text, query);
    return query;
  }
}
