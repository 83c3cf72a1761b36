/** Declares the routes by which requests are tried and explained, and mappings are written for them. */

import { Type } from '@reveille/engine/schema'
import type { Routes } from './declaration.ts'
import { diagnostic } from './records.ts'
import { boundedText, optional } from './schema.ts'

/** A payload of a mebibyte, a pasted text, and what JSON adds to both. */
const maxTriedBytes = 2_200_000

const source = Type.Object({
  path: Type.String({ description: 'As a template names it.' }),
  value: Type.String({ description: 'As compact JSON, shortened.' }),
})

const segment = Type.Union([
  Type.Object({ literal: Type.String({ description: 'Words of the operator.' }) }),
  Type.Object({
    value: Type.String({ description: 'A text from outside.' }),
    path: Type.String({ description: 'Where it is from.' }),
  }),
])

const candidate = Type.Object(
  {
    mapping: Type.String({ description: 'The id.' }),
    place: Type.String({ description: '`file:line:column`.' }),
    verdict: Type.Enum(['matched', 'failed', 'not-reached', 'disabled']),
    ...optional({
      clause: Type.Object(
        {
          path: Type.String({ description: 'The clause: `match.body.action`.' }),
          expected: Type.String({ description: 'Words that end a sentence.' }),
          ...optional({
            actual: Type.String({ description: 'The value of the payload. Absent: it has none.' }),
            error: Type.String({ description: 'Why an expression could not be decided.' }),
            isOnly: Type.Literal(true),
            isNear: Type.Literal(true),
          }),
        },
        { description: 'The first clause that failed.' },
      ),
      params: Type.Record(Type.String(), Type.String()),
    }),
  },
  { $id: 'CandidateTrace' },
)

const actionTrace = Type.Object(
  {
    mapping: Type.String(),
    vars: Type.Array(source),
    fields: Type.Array(
      Type.Object({
        field: Type.String(),
        value: Type.String({ description: 'Shortened.' }),
        from: Type.Enum(['literal', 'template', 'expression', 'transform', 'default']),
        sources: Type.Array(source),
      }),
    ),
    ...optional({
      index: Type.Integer({ description: 'The element of `forEach`.' }),
      segments: Type.Array(segment, { description: 'The text or message in pieces, at most 16 KiB.' }),
      prompt: Type.String({ description: "The model's input." }),
    }),
  },
  { $id: 'ActionTrace' },
)

const tried = {
  decision: Type.Unsafe<object>({
    type: 'object',
    description:
      'The outcome: `outcome`, `mapping`, and for others than accepted ones `reason`, `code` and `message`.',
  }),
  status: Type.Integer({ description: 'The HTTP status that would be answered.' }),
  explanation: Type.Object(
    {
      endpoint: Type.String(),
      candidates: Type.Array(candidate),
      actions: Type.Array(actionTrace),
      ...optional({ isForm: Type.Literal(true) }),
    },
    { $id: 'Explanation' },
  ),
  stops: Type.Array(
    Type.Object({
      module: Type.String(),
      target: Type.String({ description: 'The target that the transform called: `https://jira.example`.' }),
      ...optional({ place: Type.String({ description: '`file:line:column`.' }) }),
    }),
    { description: 'Where transforms were stopped.' },
  ),
}

const test = Type.String({ description: 'A mapping file with a test that expects this.' })

/** The answer of a dry run of a request. */
export const dryRun = Type.Object(
  {
    ...tried,
    ...optional({
      test,
      diagnostics: Type.Array(diagnostic, { description: 'Findings about pasted mappings.' }),
    }),
  },
  { $id: 'RequestDryRun' },
)

export const dryRunRoutes = {
  explainRequest: {
    method: 'GET',
    path: '/requests/:id/explain',
    needs: 'read',
    summary: 'Says why a stored request ended as it did, or what is live or a generation makes of it.',
    query: optional({
      generation: Type.String({
        description:
          'A number of this node, how a digest begins, or `live`. Default: what was noted at the time, if it was, else `live`.',
        pattern: '^(live|[1-9]\\d{0,8}|[0-9a-f]{8,64})$',
        expects: 'the number of a generation, at least the first 8 digits of its digest, or live',
      }),
    }),
    answers: {
      200: Type.Object({
        by: Type.String({
          description: 'Source of the explanation: `stored`, `live`, or the number of a generation.',
        }),
        explanation: Type.Unsafe<object>({
          type: 'object',
          description:
            'An `Explanation`, or for `stored` the part of it that was noted: `candidates`, and how many `more` there are.',
        }),
        ...optional({ decision: tried.decision, status: tried.status, stops: tried.stops }),
      }),
    },
  },
  writeTest: {
    method: 'GET',
    path: '/requests/:id/as-test',
    needs: 'read',
    summary: 'Writes an entry of `tests:` from a stored request: it expects what happened.',
    answers: {
      200: Type.Unknown({ description: 'A mapping file with one test.', contentMediaType: 'text/yaml' }),
    },
  },
  tryRequest: {
    method: 'POST',
    path: '/try',
    needs: 'operate',
    summary: 'Says what would come of a request, by what is live or by pasted mappings.',
    maxBodyBytes: maxTriedBytes,
    body: Type.Object(
      {
        endpoint: boundedText('The name behind `/hooks/`.', 1_024),
        payload: Type.String({ description: 'The body as it would be sent.', maxLength: 1_048_576 }),
        ...optional({
          headers: Type.Record(Type.String(), Type.String(), { description: 'By name.' }),
          query: Type.Record(Type.String(), Type.String(), { description: 'By name.' }),
          mapping: Type.String({
            description:
              'A mapping file, a list of mappings or one mapping, in the place of those that are live.',
          }),
          callOut: Type.Boolean({ description: 'True if transforms may use the network.' }),
          withTest: Type.Boolean({ description: 'True to write a test that expects the result too.' }),
        }),
      },
      { additionalProperties: false },
    ),
    answers: {
      200: Type.Object(optional({ ...tried, test, diagnostics: Type.Array(diagnostic) }), {
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
      200: Type.Object({
        items: Type.Array(
          Type.Object({
            name: Type.String({ description: 'That of the test.' }),
            file: Type.String({ description: 'The mapping file, or the preset.' }),
            headers: Type.Record(Type.String(), Type.String()),
            query: Type.Record(Type.String(), Type.String()),
            body: Type.String({ description: 'The payload as it would be sent.' }),
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
      200: Type.Object({
        fields: Type.Array(
          Type.Object({
            path: Type.String({ description: 'As a template names it.' }),
            types: Type.Array(Type.Enum(['object', 'list', 'string', 'number', 'boolean', 'null'])),
            seen: Type.Integer({ description: 'In how many of the payloads it is.' }),
            ...optional({
              example: Type.String({ description: 'As compact JSON, shortened, without secrets.' }),
            }),
          }),
        ),
        headers: Type.Array(
          Type.Object({ name: Type.String(), example: Type.String(), seen: Type.Integer() }),
        ),
        ...optional({ cut: Type.Literal(true) }),
      }),
    },
  },
} satisfies Routes
