/** Runs the bundle as a node of the next version: it knows one migration more, and serves as this version does. */

import { pathToFileURL } from 'node:url'
import { openPostgresDriver } from '../../plugins/postgres/driver.ts'
import { migrate, migrations } from '../../runtime/store/schema.ts'
import { bundledCommand } from '../bundle.ts'

/** A migration only adds: a column that this version does not know, and a table. */
const next = () => [
  'ALTER TABLE requests ADD COLUMN of_next_version text',
  'CREATE TABLE of_next_version (id uuid PRIMARY KEY)',
]

const driver = await openPostgresDriver({ location: process.env['REVEILLE_DATABASE'] ?? '' })
await migrate(driver, [...migrations, next])
await driver.close()
await import(pathToFileURL(await bundledCommand()).href)
