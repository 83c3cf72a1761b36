/** Tests that the reader of vendors' descriptions refuses what the descriptions refuse. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FakeServerRequest } from '../../plugins/kit/fake-server/index.ts'
import { openSpec } from './spec.ts'

const json = { 'content-type': 'application/json; charset=utf-8' }

interface Case {
  readonly spec: string
  readonly good: Partial<FakeServerRequest>
  /** Maps each expected violation to a bad request. */
  readonly bad: Readonly<Record<string, Partial<FakeServerRequest>>>
}

const token = '123456:abcdefghijklmnopqrstuvwxyz0123456789'
const bearer = { ...json, authorization: 'Bearer a-token' }
const bot = { ...json, authorization: 'Bot a-token' }
const meta = { ...bearer, 'user-agent': 'reveille/1.2.3' }
const slackPost = { path: '/api/chat.postMessage', headers: bearer }
const discordPost = { path: '/api/v10/channels/123/messages', headers: bot }
const metaPost = { path: '/v23.0/1234567890/messages', headers: meta }
const metaText = { messaging_product: 'whatsapp', to: '15550001111', type: 'text', text: { body: 'Hello' } }
const rpc = { path: '/api/v1/rpc', headers: json }
const rpcSend = {
  jsonrpc: '2.0',
  id: '1',
  method: 'send',
  params: { recipient: ['+15550001111'], message: 'Hello' },
}

const cases: readonly Case[] = [
  {
    spec: 'telegram',
    good: {
      path: `/bot${token}/sendMessage`,
      headers: json,
      json: { chat_id: 1, text: 'Hello', parse_mode: 'HTML' },
    },
    bad: {
      "required property 'text'": { json: { chat_id: 1 } },
      'additional properties': { json: { chat_id: 1, text: 'Hello', txt: 'Hello' } },
      'more than 4096 characters': { json: { chat_id: 1, text: 'x'.repeat(4097) } },
      'no operation': { path: `/bot${token}/sendMassage` },
      'body is text/plain': { headers: { 'content-type': 'text/plain' } },
    },
  },
  {
    spec: 'discord',
    good: { ...discordPost, json: { content: 'Hello', nonce: 'abc', enforce_nonce: true } },
    bad: {
      'body/content must be string': { json: { content: 5 } },
      'no header authorization': { headers: json },
      'not below /api/v10': { path: '/channels/123/messages' },
    },
  },
  {
    spec: 'slack',
    good: { ...slackPost, json: { channel: 'C0123456', markdown_text: 'Hello' } },
    bad: {
      "required property 'channel'": { json: { text: 'Hello' } },
      '12000 characters': { json: { channel: 'C0123456', markdown_text: 'x'.repeat(12_001) } },
      'no bearer token': { headers: json },
    },
  },
  {
    spec: 'mattermost',
    good: { path: '/api/v4/posts', headers: bearer, json: { channel_id: 'a'.repeat(26), message: 'Hello' } },
    bad: {
      "required property 'channel_id'": { json: { message: 'Hello' } },
      '16383 characters': { json: { channel_id: 'a'.repeat(26), message: 'x'.repeat(16_384) } },
    },
  },
  {
    spec: 'whatsapp',
    good: { ...metaPost, json: metaText },
    bad: {
      'header User-Agent must match': { headers: { ...meta, 'user-agent': 'node' } },
      unevaluated: { json: { ...metaText, foo: 1 } },
    },
  },
  {
    spec: 'msteams',
    good: {
      path: '/v3/conversations/19:abc@thread.tacv2/activities',
      headers: bearer,
      json: { type: 'message', text: 'Hello', textFormat: 'markdown' },
    },
    bad: { "required property 'type'": { json: { text: 'Hello' } } },
  },
  {
    spec: 'signal',
    good: {
      path: '/v2/send',
      headers: json,
      json: { number: '+1555', recipients: ['+1556'], message: 'Hello' },
    },
    bad: { 'recipients must be array': { json: { number: '+1555', recipients: '+1556', message: 'Hello' } } },
  },
  {
    spec: 'signal-jsonrpc',
    good: { ...rpc, json: rpcSend },
    bad: {
      'sendd is no method': { json: { ...rpcSend, method: 'sendd' } },
      'textStyle/0 must match': {
        json: { ...rpcSend, params: { ...rpcSend.params, textStyle: ['0:5:bold'] } },
      },
    },
  },
  {
    spec: 'imessage',
    good: {
      path: '/api/v1/message/text',
      query: new URLSearchParams({ password: 'secret' }),
      headers: json,
      json: { chatGuid: 'iMessage;-;+15550001111', tempGuid: 'one', message: 'Hello' },
    },
    bad: {
      tempGuid: { json: { chatGuid: 'iMessage;-;+15550001111', message: 'Hello' } },
      'no query password': { query: new URLSearchParams() },
      'no query pass': { query: new URLSearchParams({ password: 'secret', pass: 'x' }) },
    },
  },
]

const absent = openSpec('telegram') === undefined
if (absent) test.skip('the vendors’ descriptions are not at hand')

for (const { spec: name, good, bad } of absent ? [] : cases) {
  test(`the description of ${name} accepts a good request, and reports what is wrong with others`, () => {
    const spec = openSpec(name)
    assert.ok(spec)
    assert.deepEqual(spec.problems(requestOf(good)), [])
    for (const [said, change] of Object.entries(bad)) {
      const problems = spec.problems(requestOf({ ...good, ...change })).join('; ')
      assert.ok(problems.includes(said), `'${said}' in '${problems}'`)
    }
  })
}

function requestOf(facts: Partial<FakeServerRequest>): FakeServerRequest {
  return {
    method: 'POST',
    path: '/',
    query: new URLSearchParams(),
    headers: {},
    text: JSON.stringify(facts.json),
    json: undefined,
    ...facts,
  }
}
