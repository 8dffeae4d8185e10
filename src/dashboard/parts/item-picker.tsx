import { useEffect, useState } from 'preact/hooks';
import type { Item } from '../../domain/entities.ts';
import { State } from './common.tsx';
import { NoneFound, useItemSearch } from './record-search.tsx';

const SHOWN = 15;

/** Finds items by their titles or ids; the best match of what was typed is chosen with Enter, once it is found. */
export function ItemPicker(props: {
  label: string;
  choose: (id: string, title: string) => void;
  /** True to show items before anything is typed. */
  listsAll?: boolean;
}) {
  const { label, choose, listsAll = false } = props;
  const found = useItemSearch<Item>(label);
  const isAsked = listsAll || found.text !== '';
  const [first] = found.rows;
  const [entered, setEntered] = useState('');
  const isFound = entered !== '' && entered === found.text && entered === found.foundBy;
  useEffect(() => {
    if (!isFound) return;
    setEntered('');
    if (first !== undefined) choose(first.ItemId, first.Comment);
  }, [isFound]);
  const submit = (event: Event) => {
    event.preventDefault();
    setEntered(found.text);
  };
  return (
    <>
      <form class="filter" onSubmit={submit}>
        {found.input}
      </form>
      {isAsked && (
        <>
          <State error={found.error} loading={found.loading} />
          <p class="suggestions">
            {found.rows.slice(0, SHOWN).map(({ ItemId, Comment }) => (
              <button key={ItemId} type="button" class="chip" onClick={() => choose(ItemId, Comment)}>
                {Comment || ItemId}
              </button>
            ))}
          </p>
          {found.none !== undefined && <NoneFound text={found.none} />}
          {listsAll && found.pages}
        </>
      )}
    </>
  );
}
