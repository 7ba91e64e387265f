import Glibc

/// What the command says: results to standard output a line at a time, everything else to standard error.
enum Terminal {
    /// Lines reach a pipe when they are said, not when a buffer is full.
    static func setUp() { setvbuf(stdout, nil, _IOLBF, 0) }

    static func say(_ line: String) { print(line) }

    /// One line to standard error in one write, so that the lines of threads do not mix.
    static func log(_ line: String) {
        var bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
        while !bytes.isEmpty {
            let written = write(STDERR_FILENO, bytes, bytes.count)
            guard written > 0 else { return }
            bytes.removeFirst(written)
        }
    }
}
