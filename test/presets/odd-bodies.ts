/**
 * Lists bodies that senders send or might send and no recording shows. They also serve checkouts without recordings.
 */

import type { Sample } from '../sample-data.ts'

const event = { specversion: '1.0', type: 'org.example.lamp', source: '/pier/3', id: '7' }
const webhook = { 'webhook-id': 'msg1', 'webhook-timestamp': '1767261600', 'webhook-signature': 'v1,x' }
const binary = Object.fromEntries(Object.entries(event).map(([name, value]) => [`ce-${name}`, value]))
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const batch = { 'content-type': 'application/cloudevents-batch+json' }
const variables = { payload: {}, headers: [], query: 1, path: null, item: 'x', index: 2, vars: {}, now: 0 }

/** The bodies by the preset that they are meant for. */
export const oddBodies: Readonly<Record<string, readonly Sample[]>> = {
  generic: [
    body('a batch of CloudEvents', [event, { ...event, id: '8' }], batch),
    body('a batch of one', [event]),
    body('an empty batch', [], batch),
    body('a batch that is longer than there are actions', Array(200).fill(event)),
    body('a batch with much data', Array(20).fill({ ...event, data: '\u6f22'.repeat(15_000) })),
    body('a batch with a blank id', [event, { ...event, id: '\u00a0' }]),
    body('a batch with a line break in an id', [event, { ...event, id: 'a\nb' }]),
    body('a batch within a batch', [[event], event]),
    body('an event with a blank id', { ...event, id: '' }),
    body('an event with a blank source', { ...event, source: ' ' }),
    body('an event whose id is a number', { ...event, id: 7 }),
    body('an event whose id is a list', { ...event, id: ['7'] }),
    body('an event whose id has a line break', { ...event, id: 'a\nb' }),
    body('an event whose id is invisible', { ...event, id: '\u200b' }),
    body('an event of a type that is null', { ...event, type: null }),
    body('an event of a type that is an object', { ...event, type: {} }),
    body('an event without data', { ...event, data: null, time: null, subject: '' }),
    body('a list with texts', [{ event: 'click', text: 'hi' }, { event: 'open' }]),
    body('a text among texts', { text: ['hi', ' '] }),
    body('a text that is blank', { text: ' \u00a0\ufeff' }),
    body('a text that is invisible', { text: '\u200b' }),
    body('a text that is a number', { text: 7 }),
    body('a text with a source that is an object', { text: 'hi', source: {} }),
    body('a list with the headers of Standard Webhooks', [{ type: 'lamp.out' }], webhook),
    body('a message with a blank id', { type: 'lamp.out' }, { ...webhook, 'webhook-id': ' ' }),
    body('a message of a blank type', { type: ' ' }, webhook),
    body('a message without data', { type: 'lamp.out', data: null, timestamp: null }, webhook),
    body('a binary event with a blank id', { lamp: 3 }, { ...binary, 'ce-id': '' }),
    body('a binary event of a blank type', { lamp: 3 }, { ...binary, 'ce-type': ' ' }),
    body('a binary event with a list', [{ lamp: 3 }], binary),
    { name: 'a binary event with nothing', headers: binary, body: '' },
    { name: 'nothing', headers: {}, body: '' },
    ...[0, 'text', true, null, [], {}, [null], [[]], '', { '': '' }, { a: null }].map((value) =>
      body(`the JSON ${JSON.stringify(value)}`, value),
    ),
    body('keys with the names of template variables', variables),
    { name: 'a form', headers: form, body: 'a=1&b=&a=2&text=' },
  ],
}

function body(name: string, value: unknown, headers: Record<string, string> = {}): Sample {
  return { name, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}
