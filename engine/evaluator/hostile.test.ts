import { testHostile } from './hostile-fixture.ts'

testHostile(65_536, 150, 20)
testHostile(1_048_576, 150, 50)
