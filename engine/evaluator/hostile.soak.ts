import { testHostile } from './hostile-fixture.ts'

testHostile(262_000, 50)
testHostile(1_048_576, 50)
