package import Database
package import Foundation

/// An archive that is made of what is stored now and sent later: texts are compressed into files of a request, and the
/// files of documents get a second name, so that they can be sent even if they are deleted meanwhile. It takes a
/// bounded part of the memory.
package final class ZipArchive {
    private let scratch: ScratchFolder
    private let blobs: BlobStore
    private let modified: Date
    private var names = FileNames()
    private(set) var parts: [ZipContent.Part] = []

    /// The paths of the entries so far.
    package var paths: [String] { parts.map(\.entry.name) }

    /// - Parameter modified: the time of texts.
    init(in scratch: ScratchFolder, blobs: BlobStore, modified: Date) {
        self.scratch = scratch
        self.blobs = blobs
        self.modified = modified
    }

    /// Begins a text, which ``add(_:as:)`` ends.
    ///
    /// - Throws: `StorageError`, or that zlib could not compress.
    package func text() throws -> ZipText { try ZipText(scratch.file()) }

    /// Adds a text as a file. Nothing may be appended to it later.
    ///
    /// - Throws: `StorageError`, or that zlib could not compress.
    package func add(_ text: ZipText, as path: String) throws {
        try text.finish()
        let entry = ZipFormat.Entry(
            name: path,
            method: .deflated,
            modified: modified,
            length: UInt64(text.length),
            packedLength: UInt64(text.file.length),
            checksum: UInt32(truncatingIfNeeded: text.checksum)
        )
        parts.append(ZipContent.Part(entry: entry, source: .file(text.file.place)))
    }

    /// Adds a value as JSON.
    ///
    /// - Throws: `EncodingError`, `StorageError`, or that zlib could not compress.
    package func add(json value: some Encodable, as path: String) throws {
        try add(json: value, as: path, level: 6)
    }

    /// - Parameter level: of the compression; 0 for a length that depends on nothing but that of the text.
    func add(json value: some Encodable, as path: String, level: Int32) throws {
        let text = try ZipText(scratch.file(), level: level)
        try text.append(WireFormat.encode(value))
        try add(text, as: path)
    }

    /// Adds a stored file under a name that all systems take and no other file of the folder has.
    ///
    /// - Parameter name: without its ending.
    /// - Returns: its path in the archive.
    /// - Throws: `StorageError`.
    package func add(_ blob: Blob, in folder: String, name: String, ending: String, modified: Date) throws -> String {
        let path = "\(folder)/\(names.unused(name, ending: ending))"
        let entry = ZipFormat.Entry(
            name: path,
            method: .stored,
            modified: modified,
            length: UInt64(blob.length),
            packedLength: UInt64(blob.length)
        )
        parts.append(ZipContent.Part(entry: entry, source: .file(try blobs.hold(blob, in: scratch))))
        return path
    }

    /// Adds a file whose bytes are read when the archive is sent, under a name as above.
    ///
    /// - Parameter name: without its ending.
    /// - Returns: its path in the archive.
    package func add(_ content: FileContent, in folder: String, name: String, ending: String, modified: Date) -> String {
        let path = "\(folder)/\(names.unused(name, ending: ending))"
        let entry = ZipFormat.Entry(
            name: path,
            method: .stored,
            modified: modified,
            length: UInt64(content.length),
            packedLength: UInt64(content.length)
        )
        parts.append(ZipContent.Part(entry: entry, source: .content(content)))
        return path
    }

    /// Returns what was added, ready to be sent.
    func finished(_ format: ZipFormat = ZipFormat()) -> ZipContent { ZipContent(parts: parts, format: format) }
}
