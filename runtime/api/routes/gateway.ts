/** Declares the routes of the gateway itself: its state, its generations and this description. */

import { pageOf, pageQuery, type Routes } from './declaration.ts'
import {
  budget,
  cost,
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
import {
  anyObject,
  either,
  flag,
  givenText,
  integer,
  list,
  number,
  object,
  oneOf,
  optional,
  text,
} from './schema.ts'

const day = { pattern: '^\\d{4}-\\d\\d-\\d\\d$', expects: 'a day such as 2026-01-31' }

/** The most stored requests that a dry run looks at. */
const maxRequests = 10_000

const dryRunQuery = optional({
  dryRun: flag('Whether nothing goes live, and stored requests are compared.'),
  limit: integer('How many stored requests a dry run looks at.', { minimum: 1, maximum: maxRequests }),
  callOut: flag('Whether transforms may leave the process in a dry run.'),
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
    summary:
      'Shows the last minutes in steps of ten seconds: outcomes, durations, backlog and what turns cost.',
    query: optional({
      minutes: integer('How many minutes back. Default: 60.', { minimum: 1, maximum: 360 }),
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
        by: oneOf(['day', 'mapping', 'model', 'session'], 'What there is one item for. Default: `day`.'),
        since: text('The first day (UTC), such as 2026-01-31. Default: 29 days ago.', day),
        until: text('The last day (UTC). Default: today.', day),
      }),
    },
    answers: {
      200: object({
        items: list(cost),
        by: oneOf(['day', 'mapping', 'model', 'session']),
        since: text(),
        until: text(),
        today: object({ day: text(), usd: number(), budgets: list(budget) }),
        month: object({
          month: text('2026-01'),
          usd: number(),
          projectedUsd: number('If the rest of the month costs as much a day as the last seven days did.'),
          unpriced: integer('Turns of the month whose cost is not known.'),
        }),
        pricesOf: text('The day on which the built-in prices were collected.'),
        ...optional({ next: text('The cursor of the next page. Absent on the last page.') }),
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
      path: text('Its path, its name from the folder of the configuration, or `preset github`.', {
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
      with: integer('The number of the other one, from which the changes are counted.', { minimum: 1 }),
    },
    answers: { 200: object({ from: integer(), to: integer(), files: list(fileChange) }) },
  },
  reload: {
    method: 'POST',
    path: '/reload',
    needs: 'configure',
    summary: 'Reads the files again, or says what that would change.',
    query: dryRunQuery,
    answers: { 200: either(reloadResult, dryReload), 409: either(reloadResult, dryReload) },
  },
  rollBack: {
    method: 'POST',
    path: '/generations/:number/rollback',
    needs: 'configure',
    summary: 'Serves an earlier generation, or says what that would change.',
    query: dryRunQuery,
    answers: { 200: either(reloadResult, dryReload), 409: either(reloadResult, dryReload) },
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
    query: { q: givenText('What was copied from somewhere.', 1_024) },
    answers: { 200: object({ items: list(found) }) },
  },
  readOpenapi: {
    method: 'GET',
    path: '/openapi.json',
    needs: 'read',
    summary: 'Describes these routes.',
    answers: { 200: anyObject('An OpenAPI 3.1 document.') },
  },
} satisfies Routes
