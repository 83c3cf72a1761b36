/** Runs the bundle as a node of the next version: it knows one migration more, and serves as this version does. */

import { createDatabase } from '../../runtime/store/postgres/connection.ts'
import { migrations } from '../../runtime/store/postgres/migrations.ts'
import { migrate } from '../../runtime/store/postgres/schema.ts'

/** A migration only adds: a column that this version does not know, and a table. */
const next = `ALTER TABLE requests ADD COLUMN of_next_version text;
  CREATE TABLE of_next_version (id uuid PRIMARY KEY)`

const location = process.env['REVEILLE_DATABASE'] ?? ''
const database = await createDatabase({ location })
await migrate(database.link('upgrade'), [...migrations, next])
await database.close()
await import(new URL('../../build/main.js', import.meta.url).href)
