import Dispatch
import Glibc
import Synchronization

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
    /// - Throws: ``SharedStoreError/unavailable(_:)``.
    func addresses(of host: String, before deadline: Deadline) throws -> [String] {
        let lookup = running.withLock { running in
            if let lookup = running[host] { return lookup }
            let lookup = Lookup()
            running[host] = lookup
            begin(lookup, host)
            return lookup
        }
        let time = DispatchTime.now() + .milliseconds(Int(deadline.milliseconds))
        guard lookup.end.wait(timeout: time) == .success else { throw SharedStoreError.unavailable(.timedOut) }
        switch lookup.result.withLock(\.self) {
        case .success(let addresses): return addresses
        case .failure(let failure):
            let text = "could not translate host name \"\(host)\" to address: \(failure.reason)"
            throw SharedStoreError.unavailable(.notReached(text))
        }
    }

    private func begin(_ lookup: Lookup, _ host: String) {
        DispatchQueue.global().async(group: lookup.end) { [self] in
            let result = resolve(host)
            lookup.result.withLock { $0 = result }
            running.withLock { $0[host] = nil }
        }
    }

    /// Asks the system.
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
