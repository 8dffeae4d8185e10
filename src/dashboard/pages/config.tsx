import { useState } from 'preact/hooks';
import type { ConfigEntry, ConfigReport } from '../../domain/admin-schemas.ts';
import { count } from '../format.ts';
import { Card, PageHead, State, Table } from '../parts/common.tsx';
import { useResource } from '../use-resource.ts';

const ALL = 'all';
/** All that has another value than its default; a file may name every key. */
const SET = 'set';
const SOURCES = ['file', 'environment', 'command line'] as const;

/** The page of the configuration: the value of each key, where it comes from, what it does; read only. */
export function ConfigPage() {
  const { data, error, loading } = useResource<ConfigReport>('/api/admin/config');
  const [text, setText] = useState('');
  const [chosen, choose] = useState<string>();
  const keys = data?.Keys ?? [];
  const set = keys.filter(isSet).length;
  // What was set is asked for most; a search goes through all.
  const from = chosen ?? (set > 0 && text === '' ? SET : ALL);
  const shown = keys.filter(
    (entry) =>
      (from === ALL || entry.Source === from || (from === SET && isSet(entry))) &&
      `${entry.Key} ${entry.Description}`.toLowerCase().includes(text.toLowerCase()),
  );
  const sections = [...new Set(shown.map(({ Key }) => sectionOf(Key)))];
  return (
    <>
      <PageHead title="Settings">
        In effect since the start, and changed in{' '}
        {data?.File ? <code>{data.File}</code> : 'a file that "furze init" writes'}, by variables of the
        environment or options of the command, with a new start.{' '}
        <a href="/docs/configuration.md">Documentation</a>
      </PageHead>
      <State error={error} loading={loading} />
      {data !== undefined && (
        <Filter keys={keys} set={set} from={from} choose={choose} text={text} type={setText} />
      )}
      {data !== undefined && shown.length === 0 && <p class="muted">No key is like that.</p>}
      {sections.map((section) => (
        <Card
          key={section}
          wide
          title={`[${section}]`}
          aside={<a href={docs('configuration.md', `[${section}]`)}>Documentation</a>}
        >
          <Table stacks label={section} head={['Key', 'Value', 'Set by', 'What it does']}>
            {shown
              .filter(({ Key }) => sectionOf(Key) === section)
              .map((entry) => (
                <Setting key={entry.Key} entry={entry} />
              ))}
          </Table>
        </Card>
      ))}
    </>
  );
}

function Filter(props: {
  keys: readonly ConfigEntry[];
  /** How many are not at their default. */
  set: number;
  from: string;
  choose: (from: string) => void;
  text: string;
  type: (text: string) => void;
}) {
  const { keys, set, from, choose, text, type } = props;
  const number = (source: string) => keys.filter(({ Source }) => Source === source).length;
  return (
    <form class="filter" onSubmit={(event) => event.preventDefault()}>
      <label>
        Find a key or what it does
        <input type="search" value={text} onInput={(event) => type(event.currentTarget.value)} />
      </label>
      <label>
        Show
        <select value={from} onChange={(event) => choose(event.currentTarget.value)}>
          <option value={ALL}>all ({count(keys.length)})</option>
          <option value={SET}>not at the default ({count(set)})</option>
          {[...SOURCES, 'default'].map((source) => (
            <option key={source} value={source}>
              {source} ({count(number(source))})
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}

function Setting({ entry }: { entry: ConfigEntry }) {
  const { Key, Value, Default, Source, Variable, Description } = entry;
  return (
    <tr>
      <th scope="row">
        {Key.slice(sectionOf(Key).length + 1) || 'tables'}
        <small class="block muted">{Variable}</small>
      </th>
      <td class="value">
        <code>{Value}</code>
        {Source !== 'default' && Value !== Default && <small class="block muted">default {Default}</small>}
      </td>
      <td>
        <span class={`badge ${Source === 'default' ? '' : 'done'}`}>{Source}</span>
      </td>
      <td class="muted">
        {Description.split(/(docs\/[a-z-]+\.md)/).map((part) =>
          part.startsWith('docs/') ? (
            <a key={part} href={`/${part}`}>
              {part}
            </a>
          ) : (
            part
          ),
        )}
      </td>
    </tr>
  );
}

function isSet({ Value, Default }: ConfigEntry): boolean {
  return Value !== Default;
}

function sectionOf(key: string): string {
  const end = key.lastIndexOf('.');
  return end < 0 ? key : key.slice(0, end);
}

/** A place in the documentation, by a text that stands there. */
function docs(page: string, text: string): string {
  return `/docs/${page}#:~:text=${encodeURIComponent(text)}`;
}
