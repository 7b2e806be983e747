import Foundation

/// Standard error, unbuffered. What cannot be written there is dropped: there is no other place to report it.
enum StandardError {
    static func write(_ text: String) {
        _ = StandardStreams.write(text, to: STDERR_FILENO)
    }
}

/// Standard output, unbuffered: programs that start the server wait for its lines.
enum StandardOutput {
    /// Writes the output of a command.
    ///
    /// If its reader has closed the pipe (`larder settings | head -1`), the process ends by SIGPIPE, without a message,
    /// also where that signal is ignored; after any other error it ends with a message.
    static func write(_ text: String) {
        switch StandardStreams.write(text, to: STDOUT_FILENO) {
        case nil: return
        case EPIPE: StandardStreams.endByBrokenPipe()
        case let code?:
            StandardError.write("larder: standard output cannot be written: \(String(cString: strerror(code)))\n")
            exit(EXIT_FAILURE)
        }
    }

    /// Writes lines of a server, which goes on if they cannot be written.
    static func announce(_ text: String) {
        _ = StandardStreams.write(text, to: STDOUT_FILENO)
    }
}

/// The streams that a process is started with.
enum StandardStreams {
    /// Opens `/dev/null` for each of them that is closed, so that no file of the server has its number.
    static func openMissing() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 { _ = open("/dev/null", O_RDWR) }
    }

    /// Lets writing to a pipe without a reader fail instead of ending the process. NIO does that with its first socket.
    static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Ends the process by SIGPIPE.
    fileprivate static func endByBrokenPipe() -> Never {
        _ = signal(SIGPIPE, SIG_DFL)
        // Threads of libdispatch block all signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(SIGPIPE)
        exit(128 + SIGPIPE)
    }

    /// Writes all of a text, and waits for a reader whose pipe is full.
    ///
    /// - Returns: The code of the error; nil if there is none.
    fileprivate static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wanted, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}
