import CWebAssets
import Crypto
package import Foundation

/// The files of the front end: the shell and its resources.
///
/// Names are flat. The address of a file has the digest of all files in it, so that a file and those that import it
/// change their addresses together.
package struct WebAssets: Sendable {
    /// Name of the shell: the document of every page.
    static let shellName = "index.html"
    /// Name of the document that asks a browser for the code that pairs it.
    static let pairingName = "pair.html"
    /// The placeholder of the digest in documents and in the manifest.
    static let digestPlaceholder = "{digest}"

    /// The part of the addresses of files that changes with their content; the same word for a folder.
    package let digest: String
    /// Whether the files do not change while the server runs.
    let isFixed: Bool
    private let read: @Sendable (String) throws -> PreparedBytes?

    /// The files that are part of the program.
    package static let embedded = WebAssets(embeddedFiles())

    /// Prepares files that do not change.
    ///
    /// - Parameter files: Bytes by name.
    init(_ files: [String: Data]) {
        let digest = Self.digest(of: files)
        let prepared = Dictionary(
            uniqueKeysWithValues: files.map { name, bytes in
                (name, Self.prepare(bytes, name: name, digest: digest))
            }
        )
        self.digest = digest
        isFixed = true
        read = { prepared[$0] }
    }

    /// Reads files from a folder each time, for people who change them.
    ///
    /// - Throws: ``WebFolder/Unusable`` if that is no folder that can be read.
    package init(folder: URL) throws {
        let folder = try WebFolder(folder)
        let digest = "folder"
        self.digest = digest
        isFixed = false
        read = { name in
            try folder.file(name).map { Self.prepare($0, name: name, digest: digest) }
        }
    }

    /// Returns a file; nil if there is none of this name.
    ///
    /// - Throws: An error of the file system.
    func file(_ name: String) throws -> PreparedBytes? { try read(name) }

    /// The files that are part of the program, by name.
    static func embeddedFiles() -> [String: Data] {
        let assets = UnsafeBufferPointer(start: larder_web_assets(), count: larder_web_asset_count())
        return Dictionary(
            uniqueKeysWithValues: assets.map { asset in
                (String(cString: asset.name), Data(bytes: asset.bytes, count: asset.size))
            }
        )
    }

    /// Returns the first twelve digits of the SHA-256 of names, lengths and bytes, in the order of the names.
    private static func digest(of files: [String: Data]) -> String {
        var hash = SHA256()
        for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
            hash.update(data: Data("\(name)\n\(bytes.count)\n".utf8))
            hash.update(data: bytes)
        }
        return hash.finalize().prefix(6).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    private static func prepare(_ bytes: Data, name: String, digest: String) -> PreparedBytes {
        var bytes = bytes
        if name.hasSuffix(".html") || name.hasSuffix(".webmanifest") {
            let text = String(decoding: bytes, as: UTF8.self)
            bytes = Data(text.replacing(digestPlaceholder, with: digest).utf8)
        } else if name.hasSuffix(".js") || name.hasSuffix(".css") {
            bytes = WebComments.removed(from: bytes)
        }
        return PreparedBytes(bytes, type: WebFileType.mediaType(ofName: name))
    }
}
