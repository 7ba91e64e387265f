import Glibc
import Pagehound

/// What the command says: results to standard output, everything else to standard error.
enum Terminal {
    static func say(_ line: String) { writeLine(line, to: STDOUT_FILENO) }

    static func log(_ line: String) { writeToStandardError(line) }
}
