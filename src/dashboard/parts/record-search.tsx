import { useEffect, useState } from 'preact/hooks';
import { pathOf } from '../api.ts';
import { useResource } from '../use-resource.ts';

const PAGE_ROWS = 25;
/** A text is looked for when nothing was typed for so long: a search reads all items. */
const CALM_MS = 250;

export interface Found<Row> {
  readonly rows: readonly Row[];
  readonly error: string | undefined;
  readonly loading: boolean;
  readonly reload: () => void;
  /** Search text; empty for all. */
  readonly text: string;
  /** Text that the rows were found by, behind `text` while it is typed; undefined before there are any. */
  readonly foundBy: string | undefined;
  readonly input: preact.JSX.Element;
  readonly pages: preact.JSX.Element;
  /** Message in the place of a table without rows; undefined when there are some, or none are known yet. */
  readonly none: string | undefined;
}

type Page = Record<string, unknown>;

/** Users by the beginning of their ids, page by page. */
export function useUserSearch<Row>(): Found<Row> {
  const [text, type] = useState('');
  const input = <SearchInput label="User id begins with" text={text} type={type} />;
  const query = { prefix: text };
  const none = text === '' ? 'There are no users yet.' : `No id begins with ${text}; capitals count.`;
  return { ...usePages<Row>('users', query, none), text, foundBy: text, input };
}

/** All items by id, page by page, or the best matches of a text in their titles, ids, categories and labels. */
export function useItemSearch<Row>(label: string): Found<Row> {
  const [text, type] = useState('');
  const calm = useCalm(text);
  const all = usePages<Row>(calm === '' ? 'items' : undefined, { prefix: '' }, 'There are no items yet.');
  const path = calm === '' ? undefined : pathOf(['api', 'items'], { n: PAGE_ROWS, q: calm });
  const { data, error, loading, reload } = useResource<Page>(path);
  const input = <SearchInput label={label} text={text} type={type} />;
  if (calm === '') return { ...all, text, foundBy: '', input };
  const rows = (data?.Items ?? []) as readonly Row[];
  const isCut = rows.length === PAGE_ROWS;
  return {
    ...{ rows, error, loading, reload, text, input },
    foundBy: data && calm,
    none:
      data === undefined || rows.length > 0
        ? undefined
        : `No title, id, category or label has ${calm} in it.`,
    pages: <p class="muted">{isCut && `The ${PAGE_ROWS} best matches; type more to find others.`}</p>,
  };
}

/** The text as it stood when nothing was typed for a while; an empty one at once. */
function useCalm(text: string): string {
  const [calm, setCalm] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(text), CALM_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return text === '' ? '' : calm;
}

/** @param kind undefined for nothing @param none said where there are no rows */
function usePages<Row>(
  kind: 'users' | 'items' | undefined,
  query: { readonly prefix: string },
  none: string,
): Omit<Found<Row>, 'text' | 'foundBy' | 'input'> {
  // The cursors of this page and of those before it; those of other ids are no use.
  const [walk, setWalk] = useState<{ prefix: string; cursors: readonly string[] }>();
  const cursors = walk?.prefix === query.prefix ? walk.cursors : [''];
  const setCursors = (next: readonly string[]) => setWalk({ prefix: query.prefix, cursors: next });
  const path = kind && pathOf(['api', 'admin', kind], { n: PAGE_ROWS, ...query, cursor: cursors.at(-1)! });
  const { data, error, loading, reload } = useResource<Page>(path);
  const rows = (data?.Users ?? data?.Items ?? []) as readonly Row[];
  const next = (data?.Cursor as string | undefined) ?? '';
  return {
    ...{ rows, error, loading, reload },
    none: data === undefined || rows.length > 0 ? undefined : none,
    pages: (
      <Pages
        page={cursors.length - 1}
        isLast={next === ''}
        go={(page) => setCursors(page < cursors.length ? cursors.slice(0, page + 1) : [...cursors, next])}
        label="Pages of the table"
      />
    ),
  };
}

export function SearchInput(props: { label: string; text: string; type: (text: string) => void }) {
  const { label, text, type } = props;
  return (
    <label>
      {label}
      <input
        type="search"
        autoComplete="off"
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
    </label>
  );
}

export function Pages(props: {
  /** From 0. */
  page: number;
  isLast: boolean;
  go: (page: number) => void;
  label: string;
}) {
  const { page, isLast, go, label } = props;
  const turn = (name: string, to: number, isOff: boolean) => (
    <button type="button" class="small outline" disabled={isOff} onClick={() => go(to)}>
      {name}
    </button>
  );
  return (
    <nav class="pages" aria-label={label} hidden={page === 0 && isLast}>
      {turn('Previous', page - 1, page === 0)}
      <span class="muted">Page {page + 1}</span>
      {turn('Next', page + 1, isLast)}
    </nav>
  );
}

export function NoneFound({ text }: { text: string }) {
  return (
    <p class="muted">
      {text} <a href="#/import">Import some</a>.
    </p>
  );
}
