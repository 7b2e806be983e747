import Hummingbird
import Synchronization

/// The paths of routes as the router takes them. A server that replaces another has the same ones, and to read them
/// again would be a good part of what a router costs.
package final class RouterPaths: Sendable {
    private let known = Mutex<[String: RouterPath]>([:])

    /// Creates an empty collection.
    package init() {}

    subscript(text: String) -> RouterPath {
        known.withLock { known in
            if let path = known[text] { return path }
            let path = RouterPath(text)
            known[text] = path
            return path
        }
    }
}
