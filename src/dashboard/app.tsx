import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { forgetKey, hasKey, isKeyRefused, needsKey, setKey, silentSince } from './api.ts';
import { ConfigPage } from './pages/config.tsx';
import { ImportPage } from './pages/import.tsx';
import { ItemPage } from './pages/item.tsx';
import { ItemsPage } from './pages/items.tsx';
import { LivePage } from './pages/live.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { PlacementPage } from './pages/placement.tsx';
import { PlacementsPage } from './pages/placements.tsx';
import { QualityPage } from './pages/quality.tsx';
import { ShelfPage } from './pages/shelf.tsx';
import { StoragePage } from './pages/storage.tsx';
import { TasksPage } from './pages/tasks.tsx';
import { TryPage } from './pages/try.tsx';
import { UsersPage } from './pages/users.tsx';
import { place } from './router.ts';
import { notice, question, refreshSummary, summary } from './state.ts';

const SUMMARY_MS = 5000;
const NOTICE_MS = 12_000;

interface PageEntry {
  readonly name: string;
  readonly label: string;
  readonly page: ComponentType;
}

const PAGES: readonly PageEntry[] = [
  { name: '', label: 'Overview', page: OverviewPage },
  { name: 'tasks', label: 'Tasks', page: TasksPage },
  { name: 'try', label: 'Try it', page: TryPage },
  { name: 'shelf', label: 'Shelf', page: ShelfPage },
  { name: 'items', label: 'Items', page: ItemsOrItem },
  { name: 'users', label: 'Users', page: UsersPage },
  { name: 'live', label: 'Live', page: LivePage },
  { name: 'quality', label: 'Quality', page: QualityPage },
  { name: 'placements', label: 'Placements', page: PlacementsOrPlacement },
  { name: 'import', label: 'Import', page: ImportPage },
  { name: 'storage', label: 'Storage', page: StoragePage },
  { name: 'config', label: 'Settings', page: ConfigPage },
];

function ItemsOrItem() {
  const id = place.value[1];
  return id === undefined ? <ItemsPage /> : <ItemPage key={id} id={id} />;
}

function PlacementsOrPlacement() {
  const name = place.value[1];
  return name === undefined ? <PlacementsPage /> : <PlacementPage key={name} name={name} />;
}

export function App() {
  const [name = ''] = place.value;
  const entry = PAGES.find((page) => page.name === name) ?? PAGES[0]!;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);

  useEffect(() => {
    void refreshSummary();
    const timer = setInterval(() => {
      if (!document.hidden && !needsKey.value) void refreshSummary();
    }, SUMMARY_MS);
    return () => clearInterval(timer);
  }, []);

  const focusHead = () => main.current?.querySelector('h1')?.focus();

  // What was done on a page is told there.
  useEffect(() => () => (notice.value = undefined), [place.value]);

  useEffect(() => {
    document.title = `${entry.label} · furze`;
    // At first the focus is where the browser puts it.
    if (!isFirst.current) focusHead();
    isFirst.current = false;
  }, [entry]);

  const Page = entry.page;
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => focusHead()}>
        Skip to the content
      </button>
      <Navigation current={entry.name} />
      <main id="main" ref={main}>
        <Silence />
        {needsKey.value ? <KeyForm /> : <Page />}
      </main>
      <NoticeLine />
      <QuestionDialog />
    </div>
  );
}

/** Asks before something is done that customers notice. */
function QuestionDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const asked = question.value;
  useEffect(() => {
    if (asked !== undefined) dialog.current?.showModal();
  }, [asked]);
  if (asked === undefined) return null;
  const close = () => {
    question.value = undefined;
  };
  const agree = () => {
    close();
    void asked.act();
  };
  return (
    <dialog ref={dialog} aria-label="Confirm" onClose={close}>
      <article>
        <p>{asked.text}</p>
        <footer class="buttons">
          <button type="button" class="secondary outline" onClick={close}>
            Cancel
          </button>
          <button type="button" onClick={agree}>
            {asked.yes}
          </button>
        </footer>
      </article>
    </dialog>
  );
}

function Navigation({ current }: { current: string }) {
  const here = useRef<HTMLAnchorElement>(null);
  // On a phone the pages are a row that is wider than the screen.
  useEffect(() => here.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [current]);
  const state = summary.value;
  const worst = silentSince.value !== undefined ? 'error' : state?.Troubles[0]?.Severity;
  const health =
    state === undefined && worst === undefined
      ? 'unknown'
      : worst === undefined || worst === 'hint'
        ? 'good'
        : worst;
  return (
    <header class="side">
      <a class="brand" href="#/">
        <span class={`dot ${health}`} aria-hidden="true" />
        furze
        {state !== undefined && <small>{state.Service.Version}</small>}
      </a>
      <nav aria-label="Pages">
        <ul>
          {PAGES.map(({ name, label }) => (
            <li key={name}>
              <a
                href={`#/${name}`}
                ref={name === current ? here : undefined}
                aria-current={name === current ? 'page' : undefined}
              >
                {label}
              </a>
            </li>
          ))}
          <li class="outside">
            <a href="/apidocs">API</a>
          </li>
          {hasKey.value && (
            <li class="outside">
              <button type="button" class="link" onClick={forgetKey}>
                Forget the key
              </button>
            </li>
          )}
        </ul>
      </nav>
    </header>
  );
}

function KeyForm() {
  const [key, setText] = useState('');
  const enter = (event: Event) => {
    event.preventDefault();
    setKey(key);
    void refreshSummary();
  };
  return (
    <section class="card key-form">
      <h1 tabIndex={-1}>API key</h1>
      {isKeyRefused.value && (
        <p class="trouble error" role="alert">
          The service did not take that key.
        </p>
      )}
      <form onSubmit={enter}>
        <label>
          The service asks for its key, which is <code>[server] api_key</code> of its configuration. It is
          kept in this tab until you close it.
          <input
            type="password"
            autoComplete="off"
            required
            value={key}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Enter</button>
      </form>
    </section>
  );
}

/** Says that nothing answers: what is shown is as of then. */
function Silence() {
  const since = silentSince.value;
  if (since === undefined) return null;
  return (
    <p class="trouble error" role="alert">
      <strong>The service has not answered since {since.toLocaleTimeString('en-GB')}.</strong> Is it running?
      What you see is from before; it is asked again every few seconds.
    </p>
  );
}

/** Tells what was done, and takes it back. */
function NoticeLine() {
  const current = notice.value;
  useEffect(() => {
    if (current === undefined) return;
    const timer = setTimeout(() => {
      if (notice.value === current) notice.value = undefined;
    }, NOTICE_MS);
    return () => clearTimeout(timer);
  }, [current]);
  const undo = async () => {
    await current?.undo?.();
    notice.value = undefined;
  };
  return (
    <div class="notice" role="status">
      {current !== undefined && (
        <div>
          <span>{current.text}</span>
          {current.undo !== undefined && (
            <button type="button" class="small" onClick={undo}>
              Undo
            </button>
          )}
        </div>
      )}
    </div>
  );
}
