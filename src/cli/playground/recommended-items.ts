import type { Explanation } from '../../domain/api-schemas.ts';
import type { Item } from '../../domain/entities.ts';
import { type Caller, recommendPath } from './caller.ts';

export interface TitledItem {
  readonly itemId: string;
  readonly title: string;
}

/** An entry of a user's list. */
export interface RecommendedItem extends TitledItem {
  /** The title of the liked item that speaks most for it, or how popular it is where that says more than all likes. */
  readonly reason?: string;
}

const SHOWN_CHARACTERS = 100;

export async function askItem(ask: Caller, itemId: string): Promise<TitledItem> {
  const { Comment } = await ask<Item>(`/api/item/${encodeURIComponent(itemId)}`);
  return { itemId, title: Comment };
}

/** The first entries of a user's list with what speaks for each, asked of a running service. */
export async function askRecommended(ask: Caller, userId: string, n: number): Promise<RecommendedItem[]> {
  const itemIds = await ask<string[]>(recommendPath(userId, n));
  return Promise.all(
    itemIds.map(async (itemId) => {
      const path = `/api/recommend/${encodeURIComponent(userId)}/explain/${encodeURIComponent(itemId)}`;
      const explanation = await ask<Explanation>(path);
      const reason = reasonOf(explanation);
      return { itemId, title: explanation.Titles[itemId] ?? '', ...(reason !== undefined && { reason }) };
    }),
  );
}

function reasonOf({ Parts, Contributions, Titles }: Explanation): string | undefined {
  const byLikes = Contributions.reduce((sum, { Score }) => sum + Math.max(0, Score), 0);
  const popularity = Parts?.find(({ Name }) => Name === 'popularity');
  if (popularity !== undefined && popularity.Score > byLikes) return popularity.Meaning;
  const [most] = Contributions;
  if (most === undefined || most.Score <= 0) return undefined;
  return Titles[most.ItemId] || most.ItemId;
}

/** The line of an item; `more` follows its title. */
export function itemLine({ itemId, title }: TitledItem, more = ''): string {
  return `  ${inOneLine(`${itemId.padEnd(12)} ${title}`)}${more}\n`;
}

/** The end of an entry’s line. */
export function reasonText({ reason }: RecommendedItem): string {
  return reason === undefined ? '' : ` <- ${inOneLine(reason)}`;
}

/** A text as a line of a list shows it: without line ends and signs that would steer a terminal, and not endless. */
export function inOneLine(text: string): string {
  const line = text.replace(/[\n\r\t\p{C}]+/gu, ' ').trimEnd();
  return line.length <= SHOWN_CHARACTERS ? line : `${line.slice(0, SHOWN_CHARACTERS)}...`;
}
