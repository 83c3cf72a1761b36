/** Declares the routes of the gateway itself: its state, its generations and this description. */

import { Type } from '@reveille/engine/schema'
import { cost } from '../../store/record-schemas.ts'
import { pageOf, pageQuery, type Routes } from './declaration.ts'
import {
  budget,
  dryReload,
  endpointItem,
  fileChange,
  found,
  generation,
  generationFile,
  generationItem,
  health,
  mappingItem,
  reloadResult,
  series,
  status,
} from './records.ts'
import { boundedText, optional } from './schema.ts'

const day = { pattern: '^\\d{4}-\\d\\d-\\d\\d$', expects: 'a day such as 2026-01-31' }

/** Maximum number of stored requests in a dry run. */
const maxRequests = 10_000

const dryRunQuery = optional({
  dryRun: Type.Boolean({ description: 'True to change nothing and compare stored requests.' }),
  limit: Type.Integer({
    description: 'Number of stored requests that a dry run examines.',
    minimum: 1,
    maximum: maxRequests,
  }),
  callOut: Type.Boolean({ description: 'True if transforms may use the network in a dry run.' }),
})

export const gatewayRoutes = {
  readStatus: {
    method: 'GET',
    path: '/status',
    needs: 'read',
    summary:
      "Shows the state of the main session, the channels and the sources, and what is left of today's budgets.",
    answers: { 200: status },
  },
  readSeries: {
    method: 'GET',
    path: '/series',
    needs: 'read',
    summary: 'Shows the last minutes in steps of a minute: outcomes, durations, backlog and what turns cost.',
    query: optional({
      minutes: Type.Integer({
        description: 'Length of the series in minutes. Default: 60.',
        minimum: 1,
        maximum: 360,
      }),
    }),
    answers: { 200: series },
  },
  readSpend: {
    method: 'GET',
    path: '/spend',
    needs: 'read',
    summary:
      'Lists what turns have cost, the dearest first or by day the newest first, and what the month comes to.',
    query: {
      ...pageQuery,
      ...optional({
        by: Type.Enum(['day', 'mapping', 'model', 'session'], {
          description: 'Grouping of the items. Default: `day`.',
        }),
        since: Type.String({
          description: 'The first day (UTC), such as 2026-01-31. Default: 29 days ago.',
          ...day,
        }),
        until: Type.String({ description: 'The last day (UTC). Default: today.', ...day }),
      }),
    },
    answers: {
      200: Type.Object({
        items: Type.Array(cost),
        by: Type.Enum(['day', 'mapping', 'model', 'session']),
        since: Type.String(),
        until: Type.String(),
        today: Type.Object({ day: Type.String(), usd: Type.Number(), budgets: Type.Array(budget) }),
        month: Type.Object({
          month: Type.String({ description: '2026-01' }),
          usd: Type.Number(),
          projectedUsd: Type.Number({
            description: 'If the rest of the month costs as much a day as the last seven days did.',
          }),
          unpriced: Type.Integer({ description: 'Turns of the month whose cost is not known.' }),
        }),
        pricesOf: Type.String({ description: 'The day on which the built-in prices were collected.' }),
        ...optional({
          next: Type.String({ description: 'The cursor of the next page. Absent on the last page.' }),
        }),
      }),
    },
  },
  readHealth: {
    method: 'GET',
    path: '/health',
    needs: 'read',
    summary: 'Shows the health of the store, also where it cannot be read.',
    answers: { 200: health },
  },
  listGenerations: {
    method: 'GET',
    path: '/generations',
    needs: 'read',
    summary: 'Lists what went live and what was refused, the newest first.',
    query: pageQuery,
    answers: { 200: pageOf(generationItem) },
  },
  readGeneration: {
    method: 'GET',
    path: '/generations/:number',
    needs: 'read',
    summary: 'Shows one generation with the names of its files.',
    answers: { 200: generation },
  },
  readGenerationFile: {
    method: 'GET',
    path: '/generations/:number/file',
    needs: 'read',
    summary: 'Shows one file of a generation without the secrets in it.',
    query: {
      path: Type.String({
        description: 'Its path, its name from the folder of the configuration, or `preset github`.',
        minLength: 1,
      }),
    },
    answers: { 200: generationFile },
  },
  compareGenerations: {
    method: 'GET',
    path: '/generations/:number/compare',
    needs: 'read',
    summary: 'Shows the files that differ from another generation, without the secrets in them.',
    query: {
      with: Type.Integer({
        description: 'The number of the other one, from which the changes are counted.',
        minimum: 1,
      }),
    },
    answers: {
      200: Type.Object({ from: Type.Integer(), to: Type.Integer(), files: Type.Array(fileChange) }),
    },
  },
  reload: {
    method: 'POST',
    path: '/reload',
    needs: 'configure',
    summary: 'Reads the files again, or says what that would change.',
    query: dryRunQuery,
    answers: { 200: Type.Union([reloadResult, dryReload]), 409: Type.Union([reloadResult, dryReload]) },
  },
  rollBack: {
    method: 'POST',
    path: '/generations/:number/rollback',
    needs: 'configure',
    summary: 'Serves an earlier generation, or says what that would change.',
    query: dryRunQuery,
    answers: { 200: Type.Union([reloadResult, dryReload]), 409: Type.Union([reloadResult, dryReload]) },
  },
  listEndpoints: {
    method: 'GET',
    path: '/endpoints',
    needs: 'read',
    summary: 'Lists the endpoints with their policies, by name.',
    query: pageQuery,
    answers: { 200: pageOf(endpointItem) },
  },
  listMappings: {
    method: 'GET',
    path: '/mappings',
    needs: 'read',
    summary: 'Lists the mappings that are live, in matching order.',
    query: pageQuery,
    answers: { 200: pageOf(mappingItem) },
  },
  find: {
    method: 'GET',
    path: '/find',
    needs: 'read',
    summary: 'Finds what an id, the end of one, a delivery id of a sender or a session key belongs to.',
    query: { q: boundedText('An id, the end of one, a delivery id or a session key.', 1_024) },
    answers: { 200: Type.Object({ items: Type.Array(found) }) },
  },
  readOpenapi: {
    method: 'GET',
    path: '/openapi.json',
    needs: 'read',
    summary: 'Describes these routes.',
    answers: { 200: Type.Unsafe<object>({ type: 'object', description: 'An OpenAPI 3.1 document.' }) },
  },
} satisfies Routes
