// JSONTextTests
