import { type Method, paramNames, type Route } from '../route/route.ts';

/** A route that fits a path and a method, with its number in the table and the decoded parameters. */
export interface Match {
  readonly route: Route;
  readonly routeNumber: number;
  readonly params: Readonly<Record<string, string>>;
}

interface Leaf {
  readonly route: Route;
  readonly routeNumber: number;
  readonly names: readonly string[];
}

interface Node {
  readonly children: Map<string, Node>;
  param: Node | undefined;
  readonly leaves: Map<string, Leaf>;
}

const SLASH = 0x2f;
const PERCENT = 0x25;

/** A node by its path, with a slash behind it. */
interface Parent {
  readonly path: string;
  readonly node: Node;
}

/**
 * Finds routes by path segments. A path is split first and decoded after, so `%2F` stays within its segment; one
 * trailing slash is as none; a fixed segment goes before a parameter; a parameter is never empty.
 */
export class Router {
  private readonly root: Node = createNode();
  /** The nodes that have a parameter below and are reached through fixed segments alone, by the length of their path. */
  private readonly parents: Parent[][] = [];

  constructor(routes: readonly Route[]) {
    routes.forEach((route, routeNumber) => {
      let node = this.root;
      for (const segment of route.path.slice(1).split('/')) node = grow(node, segment);
      if (node.leaves.has(route.method))
        throw new Error(`${route.method} ${route.path} stands twice in the table`);
      node.leaves.set(route.method, { route, routeNumber, names: paramNames(route.path) });
    });
    this.index(this.root, '/');
  }

  /**
   * @param path as it came, encoded, with its leading slash
   * @returns the match; the methods that the path has when `method` is not among them; or undefined
   * @throws URIError when a segment is not percent-encoded UTF-8
   */
  find(method: string, path: string): Match | readonly Method[] | undefined {
    const quick = this.findQuickly(method, path);
    if (quick !== undefined) return quick;
    // node:http takes `*` and what is behind it.
    if (path.charCodeAt(0) !== SLASH) return undefined;
    const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length;
    const segments = path.slice(1, end).split('/');
    if (path.includes('%')) {
      for (let i = 0; i < segments.length; i++) segments[i] = decodeURIComponent(segments[i]!);
    }
    const values: string[] = [];
    const node = descend(this.root, segments, 0, values);
    if (node === undefined) return undefined;
    const leaf = node.leaves.get(method);
    if (leaf === undefined) return [...node.leaves.keys()] as Method[];
    const params: Record<string, string> = {};
    for (let i = 0; i < leaf.names.length; i++) params[leaf.names[i]!] = values[i]!;
    return { route: leaf.route, routeNumber: leaf.routeNumber, params };
  }

  /**
   * Finds a path whose segments are fixed but for the last, as those of most requests are, in one look-up. What it
   * does not find may still be there.
   */
  private findQuickly(method: string, path: string): Match | undefined {
    const end = path.length;
    let lastAt = end;
    // By hand: the engine's own search costs a call out of compiled code.
    for (; lastAt > 0 && path.charCodeAt(lastAt - 1) !== SLASH; lastAt--) {
      if (path.charCodeAt(lastAt - 1) === PERCENT) return undefined;
    }
    if (lastAt === end) return undefined;
    const node = this.parents[lastAt]?.find((parent) => path.startsWith(parent.path))?.node;
    const leaf = node?.param?.leaves.get(method);
    if (node === undefined || leaf === undefined) return undefined;
    const last = path.slice(lastAt);
    if (node.children.size > 0 && node.children.has(last)) return undefined;
    const params: Record<string, string> = {};
    params[leaf.names[0]!] = last;
    return { route: leaf.route, routeNumber: leaf.routeNumber, params };
  }

  private index(node: Node, path: string): void {
    if (node.param !== undefined) (this.parents[path.length] ??= []).push({ path, node });
    for (const [segment, child] of node.children) this.index(child, `${path}${segment}/`);
  }
}

function createNode(): Node {
  return { children: new Map(), param: undefined, leaves: new Map() };
}

function grow(node: Node, segment: string): Node {
  if (segment.startsWith('{')) return (node.param ??= createNode());
  let child = node.children.get(segment);
  if (child === undefined) node.children.set(segment, (child = createNode()));
  return child;
}

function descend(node: Node, segments: readonly string[], at: number, values: string[]): Node | undefined {
  if (at === segments.length) return node.leaves.size > 0 ? node : undefined;
  const segment = segments[at]!;
  const fixed = node.children.get(segment);
  const found = fixed === undefined ? undefined : descend(fixed, segments, at + 1, values);
  if (found !== undefined || node.param === undefined || segment === '') return found;
  values.push(segment);
  const below = descend(node.param, segments, at + 1, values);
  if (below === undefined) values.pop();
  return below;
}
