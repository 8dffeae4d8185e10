import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { NotLeadingError } from '../../../src/store/model-store.ts';
import { ModelObjects } from '../../../src/store/s3/model-objects.ts';
import { HAS_S3, objectPlace, startS3, type TestS3 } from '../../servers/s3.ts';

describe.skipIf(!HAS_S3)('parts of models in a bucket', () => {
  let s3: TestS3;
  const opened: ModelObjects[] = [];

  beforeAll(async () => {
    s3 = await startS3();
  });
  afterEach(() => {
    for (const each of opened.splice(0)) each.close();
  });
  afterAll(() => s3?.stop());

  function open(dsn: string, tag?: string): ModelObjects {
    const objects = new ModelObjects(objectPlace(dsn, tag));
    opened.push(objects);
    return objects;
  }

  test('come back as they were: of several objects, of one, and empty', async () => {
    const dsn = s3.newDsn();
    const large = new Uint8Array(2 ** 25 + 2 ** 20).map((_, at) => at * 7);
    const parts = {
      'als/3-1-1': large,
      'slim/3-1-1': large.subarray(0, 100),
      'empty/3-1-1': new Uint8Array(0),
    };
    for (const [name, bytes] of Object.entries(parts)) await open(dsn).putBlob(name, bytes);
    for (const [name, bytes] of Object.entries(parts))
      expect([name, Buffer.compare((await open(dsn).getBlob(name))!, bytes)]).toEqual([name, 0]);
    expect((await s3.names(dsn)).map((name) => name.replace(/^t\d+\//, ''))).toEqual([
      'tag/als/3-1-1/1-of-3',
      'tag/als/3-1-1/2-of-3',
      'tag/als/3-1-1/3-of-3',
      'tag/empty/3-1-1/1-of-1',
      'tag/slim/3-1-1/1-of-1',
    ]);
    expect(await open(dsn).getBlob('als/3-1')).toBeUndefined();
    expect(await open(dsn, 'other').getBlob('als/3-1-1')).toBeUndefined();
  });

  test('come whole where a connection breaks off amid an object', async () => {
    const dsn = s3.newDsn();
    const bytes = new Uint8Array(2 ** 24).map((_, at) => at * 3);
    await open(dsn).putBlob('als/1-1-1', bytes);
    const objects = open(dsn);
    s3.cutAfter(2 ** 22);
    expect(Buffer.compare((await objects.getBlob('als/1-1-1'))!, bytes)).toBe(0);
  });

  test('are refused where an object is damaged, cut short or missing', async () => {
    const dsn = s3.newDsn();
    const objects = open(dsn);
    const lengthOf = async () => (await objects.getBlob('als/1-1-1'))?.length;
    const put = () => objects.putBlob('als/1-1-1', new Uint8Array(2 ** 25).fill(5));
    await put();
    expect(await lengthOf()).toBe(2 ** 25);
    const [first, second] = (await s3.names(dsn)) as [string, string];
    for (const other of [
      (bytes: Uint8Array) => bytes.fill(6, 2 ** 23),
      (bytes: Uint8Array) => bytes.subarray(1),
    ]) {
      await s3.change(second, other);
      await expect(lengthOf()).rejects.toThrow(`the object ${second} is damaged`);
    }
    await s3.change(second, () => new Uint8Array(0));
    await expect(lengthOf()).rejects.toThrow('the model als/1-1-1 is not whole');
    await put();
    await s3.remove(first);
    await expect(lengthOf()).rejects.toThrow('NoSuchKey');
  });

  test('go once they are not to be kept, those of other stores excepted', async () => {
    const dsn = s3.newDsn();
    const [objects, others] = [open(dsn), open(dsn, 'other')];
    for (const name of ['als/1-1-1', 'als/2-1-2', 'als/3-2-1', 'als/30-2-1'])
      await objects.putBlob(name, new Uint8Array(9));
    await others.putBlob('als/1-1-1', new Uint8Array(9));
    await objects.keep(async () => {
      // Another leader's, which comes after it was looked what there is.
      await objects.putBlob('als/4-3-1', new Uint8Array(9));
      return ['als/3-2-1', 'als/2-1-2'];
    });
    const left = (await s3.names(dsn)).map((name) => name.split('/').slice(1, 4).join('/'));
    expect(left).toEqual(['other/als/1-1-1', 'tag/als/2-1-2', 'tag/als/3-2-1', 'tag/als/4-3-1']);
  });

  test('stay all where the node leads no more', async () => {
    const dsn = s3.newDsn();
    await open(dsn).putBlob('als/1-1-1', new Uint8Array(9));
    const keep = open(dsn).keep(async () => {
      throw new NotLeadingError();
    });
    await expect(keep).rejects.toThrow(NotLeadingError);
    expect(await s3.names(dsn)).toHaveLength(1);
  });

  test('a bucket that there is not, and a service that is away, are told in a line without secrets', async () => {
    const dsn = s3.newDsn();
    const none = open(dsn.replace('@models', '@others')).getBlob('als/1-1-1');
    const message = 'the bucket others: NoSuchBucket: The specified bucket does not exist';
    await expect(none).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message });
    await s3.pause();
    const error: Error = await open(dsn)
      .putBlob('als/1-1-1', new Uint8Array(9))
      .catch((error) => error);
    await s3.resume();
    expect(error.message).toMatch(/^the bucket models: ECONN/);
    expect(JSON.stringify([error, error.stack, error.cause])).not.toMatch(/veiled|Signature/);
  });
});
