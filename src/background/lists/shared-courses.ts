import type { PassOrder } from '../../recommend/lists/active-users.ts';
import type { Cluster, PassCourse, PassKind } from '../../store/cluster.ts';
import { LIST_BLOCK_USERS, type PassCourses } from './own-courses.ts';

/** Passes whose blocks nodes share: the leader begins them, and each node takes what is next. */
export class SharedCourses implements PassCourses {
  private readonly cluster: Pick<Cluster, 'epoch' | 'published' | 'passes'>;

  constructor(cluster: SharedCourses['cluster']) {
    this.cluster = cluster;
  }

  async missingFrom(kind: PassKind) {
    const course = await this.cluster.passes.find(kind);
    return (course === undefined ? this.mayBegin(kind) : course.isMore) ? 'all' : undefined;
  }

  async open(kind: PassKind, order: PassOrder): Promise<PassCourse | undefined> {
    const { passes, epoch } = this.cluster;
    const begun = await passes.find(kind);
    if (begun !== undefined || !this.mayBegin(kind)) return begun;
    return passes.begin(kind, blocksOf(order), epoch!);
  }

  /** One that serves an older generation than is published would end the pass of the others. */
  private mayBegin({ generation }: PassKind): boolean {
    return this.cluster.epoch !== undefined && this.cluster.published === generation;
  }
}

function* blocksOf(order: PassOrder): Generator<Uint32Array> {
  let block = order.take(order.first, LIST_BLOCK_USERS);
  for (; block !== undefined; block = order.take(block.next, LIST_BLOCK_USERS)) yield block.userRows;
}
