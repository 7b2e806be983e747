import CPQ
import Dispatch
import Glibc
import Synchronization

extension PostgresConnection {
    /// Opens a connection within the time of an operation.
    static func open(_ options: PostgresOptions, _ deadline: Deadline? = nil) throws -> PostgresConnection {
        if let reason = larder_pq_load() { throw ClusterError.libraryUnusable(String(cString: reason)) }
        guard larder_PQlibVersion() >= oldestVersion else { throw ClusterError.libraryUnusable("older than 14") }
        let deadline = deadline ?? Deadline(after: options.timeout)
        guard let started = start(options, try hosts(options, deadline)) else {
            throw ClusterError.unavailable(.notReached("no memory"))
        }
        let connection = PostgresConnection(started, deadline: deadline)
        do {
            try connection.finishOpening()
            try connection.check()
            try connection.run(preparation(options))
        } catch ConnectionFailure.timedOut {
            throw ClusterError.unavailable(.timedOut)
        } catch ConnectionFailure.lost {
            throw ClusterError.unavailable(.ofOpening(connection.message))
        } catch let failure as ConnectionFailure {
            throw failure.error
        }
        return connection
    }

    /// 14.0, the first that finds out in one round trip whether the server is a standby.
    private static let oldestVersion = 140_000

    /// Returns libpq's settings for a server whose address was looked up. Its name stays: certificates are for it. An
    /// address of the environment (`PGHOSTADDR`) is not looked up.
    private static func hosts(_ options: PostgresOptions, _ deadline: Deadline) throws -> [(String, String)] {
        let known = getenv("PGHOSTADDR").map { String(cString: $0) } ?? ""
        guard known.isEmpty, let name = options.hostName else { return [] }
        let addresses = try options.lookup.addresses(of: name, before: deadline)
        let names = addresses.map { _ in name }
        return [("host", names.joined(separator: ",")), ("hostaddr", addresses.joined(separator: ","))]
    }

    private static func start(_ options: PostgresOptions, _ hosts: [(String, String)]) -> OpaquePointer? {
        let encryption =
            getenv("PGSSLMODE").map { String(cString: $0) } ?? (options.requiresTLS ? "require" : "prefer")
        // The address overrides settings that precede it, but not those that follow.
        let settings = [
            ("fallback_application_name", options.name), ("target_session_attrs", "primary"),
            ("tcp_user_timeout", "10000"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"),
            ("sslmode", encryption),
            ("dbname", options.url), ("client_encoding", "UTF8"),
        ]
        return start(settings + hosts)
    }

    private static func start(_ settings: [(String, String)]) -> OpaquePointer? {
        let connection = withCStrings(settings.map(\.0)) { keys in
            withCStrings(settings.map(\.1)) { larder_PQconnectStartParams(keys, $0, 1) }
        }
        // Messages about the opening have the server's code.
        if let connection { _ = larder_PQsetErrorVerbosity(connection, Int32(LARDER_PQ_ERRORS_VERBOSE)) }
        return connection
    }

    /// Calls `body` with an array of C strings that ends with nil.
    private static func withCStrings<Value>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Value) -> Value {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies.map { UnsafePointer($0) } + [nil])
    }

    private func finishOpening() throws {
        var state = Int32(LARDER_PQ_POLLING_WRITING)
        while true {
            switch state {
            case Int32(LARDER_PQ_POLLING_OK): return try opened()
            case Int32(LARDER_PQ_POLLING_READING) where socket >= 0: try wait(for: POLLIN)
            case Int32(LARDER_PQ_POLLING_WRITING) where socket >= 0: try wait(for: POLLOUT)
            default: throw ConnectionFailure.lost
            }
            state = openFurther()
        }
    }

    private func check() throws {
        guard serverVersion >= Self.oldestVersion else {
            throw ClusterError.serverUnusable("PostgreSQL 14 or newer is needed")
        }
        guard parameter("server_encoding") == "UTF8" else {
            throw ClusterError.serverUnusable("the database must have the encoding UTF8")
        }
    }

    /// The settings of all transactions. A change needs a transaction that says so: none is made by a mistake in a
    /// read. The server aborts statements and transactions that take longer than their client waits.
    private static func preparation(_ options: PostgresOptions) -> String {
        let milliseconds = Int(options.timeout / .milliseconds(1))
        return """
            SET default_transaction_read_only = on;
            SET statement_timeout = \(milliseconds);
            SET idle_in_transaction_session_timeout = \(milliseconds);
            SET jit = off
            """
    }
}

/// Looks up the addresses of a host within the time of an operation. libpq would wait for getaddrinfo(3), which may
/// take half a minute if no name server responds.
package final class HostLookup: Sendable {
    /// Why a host has no address, in the words of getaddrinfo(3).
    package struct Failure: Error {
        let reason: String
    }

    private final class Lookup: Sendable {
        let end = DispatchGroup()
        let result = Mutex<Result<[String], Failure>>(.success([]))
    }

    private let resolve: @Sendable (String) -> Result<[String], Failure>
    /// By host: callers that wait for one host take one thread.
    private let running = Mutex<[String: Lookup]>([:])

    /// - Parameter resolve: Returns the addresses of a host; it may block.
    package init(_ resolve: @escaping @Sendable (String) -> Result<[String], Failure> = HostLookup.system) {
        self.resolve = resolve
    }

    /// Returns the addresses of a host, in the order in which they are to be tried.
    ///
    /// - Throws: ``ClusterError/unavailable(_:)``.
    func addresses(of host: String, before deadline: Deadline) throws -> [String] {
        let lookup = running.withLock { running in
            if let lookup = running[host] { return lookup }
            let lookup = Lookup()
            running[host] = lookup
            begin(lookup, host)
            return lookup
        }
        let time = DispatchTime.now() + .milliseconds(Int(deadline.milliseconds))
        guard lookup.end.wait(timeout: time) == .success else { throw ClusterError.unavailable(.timedOut) }
        switch lookup.result.withLock(\.self) {
        case .success(let addresses): return addresses
        case .failure(let failure):
            let text = "could not translate host name \"\(host)\" to address: \(failure.reason)"
            throw ClusterError.unavailable(.notReached(text))
        }
    }

    private func begin(_ lookup: Lookup, _ host: String) {
        DispatchQueue.global().async(group: lookup.end) { [self] in
            let result = resolve(host)
            lookup.result.withLock { $0 = result }
            running.withLock { $0[host] = nil }
        }
    }

    package static func system(_ host: String) -> Result<[String], Failure> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var head: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &head)
        guard code == 0 else { return .failure(Failure(reason: String(cString: gai_strerror(code)))) }
        defer { freeaddrinfo(head) }
        var (addresses, next) = ([String](), head)
        while let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let size = socklen_t(text.count)
            if getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, size, nil, 0, NI_NUMERICHOST) == 0 {
                addresses.append(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
            }
            next = entry.ai_next
        }
        return .success(addresses)
    }
}
