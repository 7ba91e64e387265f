import Glibc

/// What the command says: results to standard output, everything else to standard error. Each line is one write: it
/// reaches a pipe when it is said, and the lines of threads do not mix.
enum Terminal {
    static func say(_ line: String) { write(line, to: STDOUT_FILENO) }

    static func log(_ line: String) { write(line, to: STDERR_FILENO) }

    private static func write(_ line: String, to descriptor: Int32) {
        var bytes = Array(line.utf8)[...]
        bytes.append(UInt8(ascii: "\n"))
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, written))
        }
    }
}
