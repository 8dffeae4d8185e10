import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const QUESTION = /^(?:What|Whatever|Who|Whoever|Whose|Whether|How|When)\b/;
const QUESTIONS_MAX = 0.01;
const WORDS_MAX = 35;

interface Comment {
  readonly place: string;
  readonly text: string;
}

/** The doc comments below a folder, without their stars. */
function docComments(folder: string): Comment[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => {
      const code = readFileSync(join(ROOT, folder, name), 'utf8');
      return Array.from(code.matchAll(/\/\*\*([\s\S]*?)\*\//g), ({ 1: body = '', index }) => ({
        place: `${folder}/${name}:${code.slice(0, index).split('\n').length}`,
        text: body.replace(/^\s*\* ?/gm, '').trim(),
      }));
    });
}

/** Sentences and clauses; what stands between backticks counts as one word, a line of a table or a tag begins anew. */
function sentencesOf(text: string): string[] {
  return text.replace(/`[^`]*`/g, 'code').split(/(?<=[.:;?!]["')*]*)\s|\s@|\n\s*\n|\n {4}|\n\s*[-*|]\s/);
}

/** Words of letters: numbers, signs and single letters of a formula are none. */
function wordsOf(sentence: string): string[] {
  return sentence.match(/\p{L}[\p{L}'’-]+/gu) ?? [];
}

/** Paragraphs and points of the pages of docs/, without code and tables. */
function pages(): Comment[] {
  const names = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  return ['README.md', 'CONTRIBUTING.md', ...names.map((name) => `docs/${name}`)]
    .filter((place) => place.endsWith('.md'))
    .flatMap((place) =>
      readFileSync(join(ROOT, place), 'utf8')
        .replace(/^```[\s\S]*?^```/gm, '')
        .replace(/^[#|].*$/gm, '\n')
        .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
        .map((text) => ({ place, text: text.replace(/\n/g, ' ') })),
    );
}

/** Sentences that are too long, with their places. */
function longSentences(texts: readonly Comment[]): string[] {
  return texts.flatMap(({ place, text }) =>
    sentencesOf(text)
      .filter((sentence) => wordsOf(sentence).length > WORDS_MAX)
      .map((sentence) => `${place}: ${sentence}`),
  );
}

const comments = ['src', 'assembly', 'bench'].flatMap(docComments);

describe('doc comments', () => {
  it('begin with a noun or a verb, hardly ever with a question word', () => {
    expect(comments.length).toBeGreaterThan(4000);
    const questions = comments.filter(({ text }) => QUESTION.test(text));
    const found = questions.map(({ place }) => place);
    expect(found.length <= QUESTIONS_MAX * comments.length ? [] : found).toEqual([]);
  });

  it(`have no sentence above ${WORDS_MAX} words`, () => {
    expect(longSentences(comments)).toEqual([]);
  });
});

describe('the pages of docs/', () => {
  it(`have no sentence above ${WORDS_MAX} words`, () => {
    expect(pages().length).toBeGreaterThan(500);
    expect(longSentences(pages())).toEqual([]);
  });
});
