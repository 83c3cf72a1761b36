import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFields } from '@reveille/engine'
import { presentedToken, withoutToken, withoutTokens } from './presented-token.ts'

const query = parseFields('token=from-query')

function tokenOf(headers: Record<string, string>, allowQueryToken = true) {
  return presentedToken(headers, query, allowQueryToken)?.token
}

test('Bearer wins over the header, and the header over the query', () => {
  const headers = { authorization: 'Bearer b', 'x-gateway-token': 'g', 'x-openclaw-token': 'o' }
  assert.equal(tokenOf(headers), 'b')
  assert.equal(tokenOf({ 'x-gateway-token': 'g', 'x-openclaw-token': 'o' }), 'g')
  assert.equal(tokenOf({ 'x-openclaw-token': 'o' }), 'o')
  assert.equal(tokenOf({}), 'from-query')
})

test('only the query form is deprecated', () => {
  assert.equal(presentedToken({}, query, true)?.deprecated, true)
  assert.equal(presentedToken({ 'x-gateway-token': 'g' }, query, true)?.deprecated, false)
})

test('Basic, an empty Bearer and an empty header count as no token', () => {
  for (const authorization of ['Basic dXNlcjpw', 'Bearer', 'Bearer ', 'Bearer   ', 'Bearertoken']) {
    assert.equal(tokenOf({ authorization }), 'from-query', authorization)
  }
  assert.equal(tokenOf({ 'x-gateway-token': '' }), 'from-query')
})

test('the scheme is read in any case, and blanks around the token do not count', () => {
  assert.equal(tokenOf({ authorization: 'bEARER   b  ' }), 'b')
})

test('two words after Bearer are one wrong token, not an absent one', () => {
  assert.equal(tokenOf({ authorization: 'Bearer a b' }), 'a b')
})

test('the query form can be turned off, and an empty one is not present', () => {
  assert.equal(tokenOf({}, false), undefined)
  assert.equal(presentedToken({}, parseFields('token='), true), undefined)
  assert.equal(presentedToken({}, parseFields('token=a&token=b'), true)?.token, 'a')
})

test('a token beyond ASCII is read as UTF-8, as in the configuration', () => {
  const onTheWire = Buffer.from('schlüssel').toString('latin1')
  assert.equal(tokenOf({ 'x-gateway-token': onTheWire }), 'schlüssel')
})

test('mappings see headers and the query without tokens and without a prototype', () => {
  const headers = {
    authorization: 'Bearer b',
    'x-gateway-token': 'g',
    'x-openclaw-token': 'o',
    'x-gitlab-token': 'p',
    'x-event': 'e',
  }
  const kept = withoutTokens(headers, ['x-gitlab-token'])
  assert.deepEqual({ ...kept }, { 'x-event': 'e' })
  assert.equal(kept['constructor'], undefined)
  assert.deepEqual({ ...withoutToken(parseFields('token=t&a=1')) }, { a: '1' })
})
