import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isValidAddress, parseTarget, prefixOf } from './target.ts'

const cases: [title: string, url: string, endpoint: string | undefined | null][] = [
  ['a name', '/hooks/github', 'github'],
  ['a name with a query', '/hooks/github?a=/b', 'github'],
  ['one trailing slash is ignored', '/hooks/github/', 'github'],
  ['one trailing slash before a query is ignored', '/hooks/github/?a=1', 'github'],
  ['a second trailing slash is part of the name', '/hooks/github//', 'github/'],
  ['a doubled slash is part of the name', '/hooks//github', '/github'],
  ['names are case-sensitive', '/hooks/GitHub', 'GitHub'],
  ['several segments are one name', '/hooks/github/acme', 'github/acme'],
  ['an encoded slash is a slash of the name', '/hooks/a%2Fb', 'a/b'],
  ['escapes are decoded once', '/hooks/a%252Fb', 'a%2Fb'],
  ['escapes hold UTF-8', '/hooks/d%C3%BCrer', 'dürer'],
  ['bytes without escapes are UTF-8 too', '/hooks/d\u00c3\u00bcrer', 'dürer'],
  ['a bad escape names nothing', '/hooks/%zz', undefined],
  ['a half character names nothing', '/hooks/%C3', undefined],
  ['the bare path names nothing', '/hooks', undefined],
  ['the bare path with a slash names nothing', '/hooks/', undefined],
  ['the bare path with a query names nothing', '/hooks?a=1', undefined],
  ['dot segments are not walked', '/hooks/../api', '../api'],
  ['the absolute form is understood', 'http://host:1/hooks/github', 'github'],
  ['a longer first segment is another path', '/hooksome/github', null],
  ['another path', '/api/hooks/github', null],
  ['the path in another case is another path', '/Hooks/github', null],
  ['a query does not count as path', '/?/hooks/github', null],
  ['an absolute form without a path', 'http://host', null],
  ['a query behind an absolute form without a path', 'http://host?a=/hooks/github', null],
  ['the asterisk form', '*', null],
]

for (const [title, url, endpoint] of cases) {
  test(`target: ${title}`, () => {
    const target = parseTarget(url, prefixOf('/hooks'))
    if (endpoint === null) assert.equal(target, undefined)
    else assert.deepEqual(target?.endpoint, endpoint)
    if (endpoint === undefined) assert.ok(target)
  })
}

test('target: the query is what follows the first question mark', () => {
  assert.equal(parseTarget('/hooks/a?b=1?c', '/hooks')?.query, 'b=1?c')
  assert.equal(parseTarget('/hooks/a', '/hooks')?.query, '')
})

test('target: a path of several segments or of other letters is found as senders encode it', () => {
  assert.equal(parseTarget('/in/h%C3%A4ken/x', prefixOf('/in/häken'))?.endpoint, 'x')
})

test('target: escapes of another charset make an address invalid', () => {
  for (const url of ['/hooks/d%FCrer', '/hooks/a?b=%E9', '/hooks/a?%E9', '/hooks/a?b=\u00e9'])
    assert.ok(!isValidAddress(url), url)
  for (const url of ['/hooks/a?b=%C3%A9', '/hooks/a?b=100%', '/hooks/a?b=\u00c3\u00a9'])
    assert.ok(isValidAddress(url), url)
})
