import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ItemCard } from '../../domain/admin-schemas.ts';
import { figure, short } from '../format.ts';

/** The head of a page; it takes the focus when the page is changed. */
export function PageHead({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <header class="page-head">
      <h1 tabIndex={-1}>{title}</h1>
      {children !== undefined && <p>{children}</p>}
    </header>
  );
}

export function Card({
  title,
  aside,
  children,
  wide = false,
}: {
  title?: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
  wide?: boolean;
}) {
  return (
    <section class={wide ? 'card wide' : 'card'}>
      {title !== undefined && (
        <div class="card-head">
          <h2>{title}</h2>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}

/** Labels or categories of one record that are written out. */
const NAMES_SHOWN = 12;

/** Placeholder of something that is not there. */
export function State({ error, loading }: { error: string | undefined; loading: boolean }) {
  if (error !== undefined)
    return (
      <p class="trouble error" role="alert">
        {error}
      </p>
    );
  return loading ? <p aria-busy="true">Loading</p> : null;
}

/** A number with its name. */
export function Fact({ name, value, note }: { name: string; value: ComponentChildren; note?: string }) {
  return (
    <div class="fact" title={note}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** A column of numbers: they stand under the end of its name. */
export function numbers(...names: readonly string[]): readonly ColumnHead[] {
  return names.map((name) => ({ name, isNumber: true }));
}

/** The cells of a row under such columns. */
export function Figures({ of }: { of: readonly string[] }) {
  return of.map((figure, at) => (
    <td key={String(at)} class="number nowrap">
      {figure}
    </td>
  ));
}

export type ColumnHead = string | { readonly name: string; readonly isNumber: true };

/** A table that scrolls by itself where the page is narrow, or has the cells of a row below each other there. */
export function Table({
  label,
  head,
  children,
  stacks = false,
}: {
  label: string;
  head: readonly ColumnHead[];
  children: ComponentChildren;
  /** Hides the names of columns whose cells are plain without. */
  stacks?: boolean;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class="scroll" tabIndex={0} aria-label={label}>
      <table class={stacks ? 'stacks' : undefined}>
        <thead>
          <tr>
            {head.map((column) =>
              typeof column === 'string' ? (
                <th key={column} scope="col">
                  {column}
                </th>
              ) : (
                <th key={column.name} scope="col" class="number">
                  {column.name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** A share of a whole as a bar, from -1 to 1; what is below 0 has another color. */
export function Bar({ share, label }: { share: number; label: string }) {
  const length = Math.min(1, Math.abs(share));
  return <progress class={share < 0 ? 'bar against' : 'bar'} value={length} max={1} aria-label={label} />;
}

export function Score({ value }: { value: number | undefined }) {
  return <span class="score">{value === undefined ? '' : figure(value)}</span>;
}

/** Labels or categories in a line; of very many the first. */
export function Names({ values }: { values: readonly unknown[] }) {
  const given = values
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .filter((text) => text !== '');
  if (given.length === 0) return <span class="none">–</span>;
  const more = given.length - NAMES_SHOWN;
  const shown = given.slice(0, NAMES_SHOWN).map((text) => short(text, 60));
  return (
    <span class="names-cell">
      {shown.join(', ')}
      {more > 0 && <span class="muted"> and {more} more</span>}
    </span>
  );
}

export function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <button type="button" class="small outline" onClick={copy}>
      {copied ? 'Copied' : 'Copy'}
    </button>
  );
}

/** An item by its title, with its id beside it, and its picture and price where the configuration tells them. */
export function ItemName(props: { id: string; title: string; image?: string; price?: string }) {
  const { id, title, image, price } = props;
  return (
    <a class="item" href={`#/items/${encodeURIComponent(id)}`}>
      {image !== undefined && <img class="picture" src={image} alt="" loading="lazy" />}
      {short(title === '' ? id : title)}
      {price !== undefined && <small>{short(price, 40)}</small>}
      {title !== '' && <small>{short(id, 40)}</small>}
    </a>
  );
}

/** An item as the service shows it. */
export function Item({ card: { Id, Title, Image, Price } }: { card: ItemCard }) {
  return (
    <ItemName
      id={Id}
      title={Title}
      {...(Image !== undefined && { image: Image })}
      {...(Price !== undefined && { price: Price })}
    />
  );
}
