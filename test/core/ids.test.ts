import { describe, expect, it } from 'vitest';
import { formatId, ID_PREFIXES, type IdKind, isUuidV7, parseId } from '../../src/core/ids.ts';

/** The example of RFC 9562, appendix A.6. */
const UUID = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
const KINDS = Object.keys(ID_PREFIXES) as IdKind[];

describe('ids', () => {
  it('have the prefixes of the wire contract', () => {
    expect(KINDS.map((kind) => formatId(kind, UUID))).toStrictEqual(
      ['dec_', 'apr_', 'grt_', 'den_', 'rcp_', 'key_', 'req_', 'whk_', 'dlv_'].map((prefix) => prefix + UUID),
    );
  });

  it.each(KINDS)('of kind %s are read back, and as no other kind', (kind) => {
    const id = formatId(kind, UUID);
    expect(KINDS.filter((other) => parseId(other, id) === UUID)).toStrictEqual([kind]);
  });

  it.each([
    ['nothing', ''],
    ['the prefix alone', 'apr_'],
    ['no prefix', UUID],
    ['a prefix in upper case', `APR_${UUID}`],
    ['hex in upper case', `apr_${UUID.toUpperCase()}`],
    ['version 4', 'apr_017f22e2-79b0-4cc3-98c4-dc0c0c07398f'],
    ['another variant', 'apr_017f22e2-79b0-7cc3-c8c4-dc0c0c07398f'],
    ['no hyphens', `apr_${UUID.replaceAll('-', '')}`],
    ['braces', `apr_{${UUID}}`],
    ['a line break after it', `apr_${UUID}\n`],
    ['space before it', ` apr_${UUID}`],
    ['digits of another script', `apr_${UUID.replaceAll('0', '٠')}`],
    ['a path', `apr_${UUID}/../x`],
  ])('of another form are undefined: %s', (_, text) => {
    expect(parseId('approval', text)).toBeUndefined();
  });

  it('are never made from what is no UUIDv7', () => {
    expect(isUuidV7(UUID)).toBe(true);
    expect(() => formatId('key', UUID.toUpperCase())).toThrow(TypeError);
    expect(() => formatId('key', '')).toThrow(TypeError);
  });
});
