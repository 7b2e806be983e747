import Screens
import Storage
import Synchronization
import Upstream

/// The mounts of upstreams that tests have made in the sandbox of this server. Each is made at the first request, and
/// exists as long as its upstream.
final class StubMounts: Sendable {
    private struct Entry: Sendable {
        let mount: Mount
        /// Only compared, because a later upstream of the same name gets another mount.
        let made: any AnyObject & Sendable
    }

    private let resources: ServerResources
    private let hasher: CredentialHasher
    private let secrets: SealedSecrets
    private let entries = Mutex<[String: Entry]>([:])

    init(_ resources: ServerResources, _ hasher: CredentialHasher, _ secrets: SealedSecrets) {
        (self.resources, self.hasher, self.secrets) = (resources, hasher, secrets)
    }

    var mounts: [Mount] { entries.withLock { $0.values.map(\.mount) } }

    /// Returns the mount of an upstream; nil if no test has made an upstream of that name.
    @Sendable func mount(_ name: String) -> Mount? {
        guard let (upstream, made) = resources.stub(name) else {
            if let entry = entries.withLock({ $0.removeValue(forKey: name) }) { Self.stop(entry.mount) }
            return nil
        }
        let (mount, old) = entries.withLock { entries -> (Mount, Mount?) in
            if let entry = entries[name], entry.made === made { return (entry.mount, nil) }
            let mount = Mount(upstream, hasher: hasher, secrets: secrets)
            return (mount, entries.updateValue(Entry(mount: mount, made: made), forKey: name)?.mount)
        }
        if let old { Self.stop(old) }
        return mount
    }

    private static func stop(_ mount: Mount) {
        mount.stop()
        mount.upstream.stop()
    }
}
