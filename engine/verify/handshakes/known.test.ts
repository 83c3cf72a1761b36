import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signatureData } from '../../../test/sample-data.ts'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { createProvider } from '../provider.ts'

/** The shape of the data, which the README beside it describes. */
interface Known {
  readonly id: string
  readonly provider: string
  readonly config: VerifyPolicy & { readonly certificates?: Readonly<Record<string, string>> }
  readonly request: {
    readonly method: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly rawBody: string
  }
  readonly now: number
  readonly response: Expected & {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly anyOf?: readonly Expected[]
    readonly thenGet?: string
    readonly showOperator?: string
  }
}

interface Expected {
  readonly contentType?: string
  readonly body?: string
  readonly json?: unknown
}

const known = signatureData('handshakes') as Known[] | undefined

test('every known handshake has its answer', { skip: known ? false : 'no ../shared' }, async (t) => {
  for (const { id, provider, config, request, now, response } of known ?? []) {
    await t.test(id, async () => {
      const { certificates = {}, ...policy } = config
      const { verifier, handshakes } = createProvider({ provider, ...policy })
      assert.ok(handshakes)
      const { method, url, rawBody } = request
      const { pathname, search, searchParams } = new URL(url)
      const headers = lowerCased(request.headers)
      const signed = {
        method,
        target: pathname + search,
        headers,
        rawBody: Buffer.from(rawBody),
        now: now * 1000,
      }
      const download = async (address: string) => certificates[address] ?? assert.fail(address)
      const isTrusted = (await verifier?.verify(signed, { download }))?.ok ?? false
      const payload: unknown = rawBody === '' ? undefined : JSON.parse(rawBody)
      const asked = { method, headers, query: Object.fromEntries(searchParams), payload, isTrusted }
      assert.ok(method === 'POST' || (handshakes.methods ?? []).includes(method))
      assert.ok(method !== 'POST' || isTrusted || handshakes.unsigned || response.status === 401)

      const answer = handshakes.answer(asked)
      if (response.status === 401) return assert.deepEqual([isTrusted, answer], [false, undefined])
      assert.ok(answer)
      assert.equal(answer.status, response.status)
      assert.ok((response.anyOf ?? [response]).some((each) => fits(answer, each)))
      const answered = lowerCased(answer.headers ?? {})
      for (const [name, value] of Object.entries(lowerCased(response.headers ?? {})))
        assert.equal(answered[name], value, name)
      assert.equal(answer.confirm, response.thenGet)
      assert.equal(answer.issuedSecret?.value, response.showOperator)
    })
  }
})

function fits(
  { contentType = '', body: text }: Expected,
  { contentType: type, body, json }: Expected,
): boolean {
  if (type === undefined && body === undefined && json === undefined) return true
  if (type !== undefined && contentType.split(';')[0] !== type) return false
  if (body !== undefined) return text === body
  assert.deepEqual(JSON.parse(text ?? ''), json)
  return true
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
