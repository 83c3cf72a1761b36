/** Declares the routes by which requests are tried and explained, and mappings are written for them. */

import type { Routes } from './declaration.ts'
import { diagnostic } from './records.ts'
import {
  anyObject,
  closedObject,
  content,
  either,
  exactly,
  flag,
  givenText,
  integer,
  list,
  map,
  named,
  object,
  oneOf,
  optional,
  text,
} from './schema.ts'

/** A payload of a mebibyte, a pasted text, and what JSON adds to both. */
const maxTriedBytes = 2_200_000

const source = object({ path: text('As a template names it.'), value: text('As compact JSON, shortened.') })

const segment = either(
  object({ literal: text('Words of the operator.') }),
  object({ value: text('A text from outside.'), path: text('Where it is from.') }),
)

const candidate = named(
  'CandidateTrace',
  object({
    mapping: text('The id.'),
    place: text('`file:line:column`.'),
    verdict: oneOf(['matched', 'failed', 'not-reached', 'disabled']),
    ...optional({
      clause: object(
        {
          path: text('The clause: `match.body.action`.'),
          expected: text('Words that end a sentence.'),
          ...optional({
            actual: text('The value of the payload. Absent: it has none.'),
            error: text('Why an expression could not be decided.'),
            isOnly: exactly(true),
            isNear: exactly(true),
          }),
        },
        { description: 'The first clause that failed.' },
      ),
      params: map(text()),
    }),
  }),
)

const actionTrace = named(
  'ActionTrace',
  object({
    mapping: text(),
    vars: list(source),
    fields: list(
      object({
        field: text(),
        value: text('Shortened.'),
        from: oneOf(['literal', 'template', 'expression', 'transform', 'default']),
        sources: list(source),
      }),
    ),
    ...optional({
      index: integer('The element of `forEach`.'),
      segments: list(segment, { description: 'The text or message in pieces, at most 16 KiB.' }),
      prompt: text('What the model would see.'),
    }),
  }),
)

const tried = {
  decision: anyObject(
    'The outcome: `outcome`, `mapping`, and for others than accepted ones `reason`, `code` and `message`.',
  ),
  status: integer('The HTTP status that would be answered.'),
  explanation: named(
    'Explanation',
    object({
      endpoint: text(),
      candidates: list(candidate),
      actions: list(actionTrace),
      ...optional({ isForm: exactly(true) }),
    }),
  ),
  stops: list(
    object({
      module: text(),
      target: text('What the transform would have reached: `https://jira.example`.'),
      ...optional({ place: text('`file:line:column`.') }),
    }),
    { description: 'Where transforms were stopped.' },
  ),
}

/** What a dry run of a request answers. */
export const dryRun = named(
  'RequestDryRun',
  object({
    ...tried,
    ...optional({ diagnostics: list(diagnostic, { description: 'What is odd about pasted mappings.' }) }),
  }),
)

export const dryRunRoutes = {
  explainRequest: {
    method: 'GET',
    path: '/requests/:id/explain',
    needs: 'read',
    summary: 'Says why a stored request ended as it did, or what is live or a generation makes of it.',
    query: optional({
      generation: text(
        'A number of this node, how a digest begins, or `live`. Default: what was noted at the time, if it was, else `live`.',
        {
          pattern: '^(live|[1-9]\\d{0,8}|[0-9a-f]{8,64})$',
          expects: 'the number of a generation, at least the first 8 digits of its digest, or live',
        },
      ),
    }),
    answers: {
      200: object({
        by: text('What explains: `stored`, `live`, or the number of a generation.'),
        explanation: anyObject(
          'An `Explanation`, or for `stored` the part of it that was noted: `candidates`, and how many `more` there are.',
        ),
        ...optional({ decision: tried.decision, status: tried.status, stops: tried.stops }),
      }),
    },
  },
  writeTest: {
    method: 'GET',
    path: '/requests/:id/as-test',
    needs: 'read',
    summary: 'Writes an entry of `tests:` from a stored request: it expects what happened.',
    answers: { 200: content('text/yaml', 'A mapping file with one test.') },
  },
  tryRequest: {
    method: 'POST',
    path: '/try',
    needs: 'operate',
    summary: 'Says what would come of a request, by what is live or by pasted mappings.',
    maxBodyBytes: maxTriedBytes,
    body: closedObject({
      endpoint: givenText('The name behind `/hooks/`.', 1_024),
      payload: text('The body as it would be sent.', { maxLength: 1_048_576 }),
      ...optional({
        headers: map(text(), { description: 'By name.' }),
        query: map(text(), { description: 'By name.' }),
        mapping: text(
          'A mapping file, a list of mappings or one mapping, in the place of those that are live.',
        ),
        callOut: flag('Whether transforms may leave the process.'),
      }),
    }),
    answers: {
      200: object(optional({ ...tried, diagnostics: list(diagnostic) }), {
        description: 'A `RequestDryRun`; for pasted mappings that do not compile only `diagnostics`.',
      }),
    },
  },
  listSamples: {
    method: 'GET',
    path: '/endpoints/:name/samples',
    needs: 'read',
    summary: 'Lists the requests of the tests of an endpoint, at most 100, as samples to try.',
    answers: {
      200: object({
        items: list(
          object({
            name: text('That of the test.'),
            file: text('The mapping file, or the preset.'),
            headers: map(text()),
            query: map(text()),
            body: text('The payload as it would be sent.'),
          }),
        ),
      }),
    },
  },
  listPaths: {
    method: 'GET',
    path: '/endpoints/:name/paths',
    needs: 'read',
    summary:
      'Lists the fields that payloads of an endpoint have, from the newest that are kept and from its tests.',
    answers: {
      200: object({
        fields: list(
          object({
            path: text('As a template names it.'),
            types: list(oneOf(['object', 'list', 'string', 'number', 'boolean', 'null'])),
            seen: integer('In how many of the payloads it is.'),
            ...optional({ example: text('As compact JSON, shortened, without secrets.') }),
          }),
        ),
        headers: list(object({ name: text(), example: text(), seen: integer() })),
        ...optional({ cut: exactly(true) }),
      }),
    },
  },
} satisfies Routes
