import { describe, expect, it } from 'vitest';
import { RecommendationTokens } from '../../../src/recommend/placements/recommendation-tokens.ts';

const tokens = new RecommendationTokens('0123');
const claims = { placement: 'home', variant: 'b_2', generation: 41, timeMs: Date.UTC(2026, 0, 31) + 7 };
const token = tokens.issue(claims, 'ann');

describe('a token', () => {
  it('tells what the list was, to every node that shares the data', () => {
    expect(tokens.read(token, 'ann')).toEqual(claims);
    expect(new RecommendationTokens('0123').read(token, 'ann')).toEqual(claims);
    for (const more of [
      ...[{ edition: 'x1' }, { edition: 'x1', plan: 'A-_' }, { plan: 'A-_' }],
      ...[
        { edition: 'x1', tookMs: 0 },
        { edition: 'x1', plan: 'A-_', tookMs: 12_345 },
      ],
    ])
      expect(tokens.read(tokens.issue({ ...claims, ...more }, 'ann'), 'ann')).toEqual({ ...claims, ...more });
    const none = { ...claims, variant: '', generation: 0 };
    expect(tokens.read(tokens.issue(none, 'Ünal.\n x'), 'Ünal.\n x')).toEqual(none);
  });

  it('goes into a header as it is, short and without the user', () => {
    expect(token).toMatch(/^[\w.-]{1,64}$/);
    expect(tokens.issue(claims, 'somebody')).not.toContain('somebody');
  });

  it('is none for another user, by another key, or once it was changed', () => {
    expect(tokens.read(token, 'bob')).toBeUndefined();
    expect(new RecommendationTokens('0124').read(token, 'ann')).toBeUndefined();
    const long = tokens.issue(claims, 'a\nann');
    const at = long.lastIndexOf('.');
    expect(tokens.read(`${long.slice(0, at)}\na${long.slice(at)}`, 'ann')).toBeUndefined();
    for (let at = 0; at < token.length; at++) {
      const changed = `${token.slice(0, at)}${token[at] === 'x' ? 'y' : 'x'}${token.slice(at + 1)}`;
      expect(tokens.read(changed, 'ann')).toBeUndefined();
    }
    const [, signature] = /\.([^.]*)$/.exec(token)!;
    for (const text of ['', '.', 'home', `.${signature}`, token.slice(0, -1), `${token}A`])
      expect(tokens.read(text, 'ann')).toBeUndefined();
  });
});
