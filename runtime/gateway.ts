/** Owns the assembly: one gateway from a configuration file, its parts started in order and closed in reverse. */

import { randomBytes } from 'node:crypto'
import { compileSnapshot, createReloader, createWatcher, fence, loadConfiguration } from '@reveille/engine'
import type { CurrentLive, Diagnostic, Loaded, Settings } from '@reveille/engine'
import Fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import { registerAdminSurface } from './api/index.ts'
import { registerProbes } from './api/probes.ts'
import { createDispatch } from './dispatch/index.ts'
import { createHookSurface, serverOptions } from './http/index.ts'
import { createLog, type LogOptions } from './observe/log.ts'
import { createPluginHost } from './plugin/index.ts'
import { createIdMinter } from './store/id.ts'
import { openSqliteStore } from './store/sqlite/index.ts'
