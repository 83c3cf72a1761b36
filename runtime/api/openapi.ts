/** Serves the OpenAPI document, which `npm run schemas` writes beside the schemas for editors. */

import { readFile } from 'node:fs/promises'
import { packageFile } from '../package-folder.ts'
import type { Handlers } from './handlers.ts'
import type { gatewayRoutes } from './routes/gateway.ts'

/** It is read rarely, so it is not kept in memory. */
export const readOpenapi: Handlers<typeof gatewayRoutes>['readOpenapi'] = async ({ reply }) =>
  reply.type('application/json; charset=utf-8').send(await readFile(packageFile('schemas', 'openapi.json')))
