import CWebAssets
import Crypto
package import Foundation
import HTTP
import Storage

/// The files of the front end: the shell and its resources.
///
/// Names are flat. The address of a file has the digest of all files in it, so that a file and those that import it
/// change their addresses together.
package struct WebAssets: Sendable {
    /// Name of the shell: the document of every page.
    static let shellName = "index.html"
    /// Name of the document that asks a browser for the code that pairs it.
    static let pairingName = "pair.html"
    /// Name of the manifest, whose texts are `{English|Russian}`, and of the one in Russian that is made of it.
    private static let manifestNames = (both: "manifest.webmanifest", russian: "manifest.ru.webmanifest")
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
        var named = files
        named[Self.manifestNames.russian] = files[Self.manifestNames.both]
        let prepared = Dictionary(
            uniqueKeysWithValues: named.map { name, bytes in
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
            let source = name == Self.manifestNames.russian ? Self.manifestNames.both : name
            return try folder.file(source).map { Self.prepare($0, name: name, digest: digest) }
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
        return Data(hash.finalize().prefix(6)).hexadecimal
    }

    private static func prepare(_ bytes: Data, name: String, digest: String) -> PreparedBytes {
        var bytes = bytes
        if name.hasSuffix(".html") || name.hasSuffix(".webmanifest") {
            let text = String(decoding: bytes, as: UTF8.self)
            let isRussian = name == manifestNames.russian
            bytes = Data(
                text.replacing(digestPlaceholder, with: digest)
                    .replacing(#/\{([^{|}]*)\|([^{|}]*)\}/#) { isRussian ? $0.output.2 : $0.output.1 }.utf8
            )
        } else if name.hasSuffix(".js") || name.hasSuffix(".css") {
            bytes = WebComments.removed(from: bytes)
            if name.hasSuffix(".css") { bytes = WebComments.withoutSpaces(bytes) }
        }
        return PreparedBytes(bytes, type: WebFileType.mediaType(ofName: name))
    }
}

/// Comments and indentation of scripts and style sheets, which browsers need not download.
enum WebComments {
    /// Returns the text of a file without the spaces at the beginnings of lines, and without lines of comments. A line
    /// that has only a comment becomes an empty line, so that no line changes its number. A comment after code is kept.
    ///
    /// A comment ends the line that it is on. Lines within a string look like others, so no string may have several.
    static func removed(from bytes: Data) -> Data {
        var kept = Data(capacity: bytes.count)
        bytes.withUnsafeBytes { file in
            var (position, isInside) = (0, false)
            while position < file.count {
                let line = Self.line(of: file, from: position)
                position += line.count
                let begins = Self.begins(line, with: "*")
                guard isInside || begins || Self.begins(line, with: "/") else {
                    kept.append(contentsOf: line.drop { $0 == UInt8(ascii: " ") })
                    continue
                }
                if isInside || begins { isInside = !Self.endsComment(line) }
                if line.last == Self.newline { kept.append(Self.newline) }
            }
        }
        return kept
    }

    /// Returns a style sheet without the white space that its signs make needless.
    static func withoutSpaces(_ sheet: Data) -> Data {
        var (kept, isAfterSpace) = (Data(capacity: sheet.count), false)
        var quote: UInt8?
        for byte in sheet {
            if quote == nil, byte == newline || byte == UInt8(ascii: " ") {
                isAfterSpace = true
                continue
            }
            if isAfterSpace, let last = kept.last, last != UInt8(ascii: ":"), !"{};,".utf8.contains(last),
                !"{};,".utf8.contains(byte)
            {
                kept.append(UInt8(ascii: " "))
            }
            isAfterSpace = false
            // A string keeps its spaces; an escaped quote does not end it.
            if let open = quote {
                if byte == open, kept.last != UInt8(ascii: "\\") { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            kept.append(byte)
        }
        return kept
    }

    private static let newline = UInt8(ascii: "\n")

    /// Returns a line with its end.
    private static func line(of file: UnsafeRawBufferPointer, from start: Int) -> UnsafeRawBufferPointer {
        let rest = UnsafeRawBufferPointer(rebasing: file[start...])
        guard let first = rest.baseAddress, let end = memchr(first, Int32(newline), rest.count) else { return rest }
        return UnsafeRawBufferPointer(rebasing: rest[...(UnsafeRawPointer(end) - first)])
    }

    /// Whether a line begins with a slash and a second sign, after spaces.
    private static func begins(_ line: UnsafeRawBufferPointer, with sign: Unicode.Scalar) -> Bool {
        var position = 0
        while position < line.count, line[position] == UInt8(ascii: " ") { position += 1 }
        guard position + 1 < line.count else { return false }
        return line[position] == UInt8(ascii: "/") && line[position + 1] == UInt8(ascii: sign)
    }

    private static func endsComment(_ line: UnsafeRawBufferPointer) -> Bool {
        line.suffix(3).elementsEqual("*/\n".utf8) || line.suffix(2).elementsEqual("*/".utf8)
    }
}

/// The media types of the front end's files, by the endings of their names.
enum WebFileType {
    private static let types = [
        "css": "text/css; charset=utf-8",
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json; charset=utf-8",
        "png": "image/png",
        "svg": "image/svg+xml; charset=utf-8",
        "txt": "text/plain; charset=utf-8",
        "webmanifest": "application/manifest+json; charset=utf-8",
    ]

    /// Returns the type of a file, which is one that browsers download unless its ending is known.
    static func mediaType(ofName name: String) -> String {
        name.split(separator: ".").last.flatMap { types[String($0)] } ?? "application/octet-stream"
    }

    /// Whether a name is one that a file of the front end can have: it is in no other folder, not hidden, and its
    /// ending says its type.
    static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { isLetterOrDigit($0) || ".-".utf8.contains($0) }
            && name.utf8.first.map(isLetterOrDigit) == true
            && types[String(name.split(separator: ".", omittingEmptySubsequences: false).last ?? "")] != nil
    }

    /// Whether a byte is a small letter or a digit.
    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
}

/// A folder whose files are served as those of the front end.
package struct WebFolder: Sendable {
    /// The folder of `web.directory` cannot be used.
    package struct Unusable: Error, CustomStringConvertible {
        let path: String

        /// One line, for the person who set it.
        package var description: String {
            "web.directory: \(path) is no folder that can be read with an \(WebAssets.shellName) in it"
        }
    }

    /// Largest file that is read, in bytes.
    private static let largest = 8 << 20

    private let url: URL

    init(_ url: URL) throws {
        self.url = url
        guard try file(WebAssets.shellName) != nil else { throw Unusable(path: url.path) }
    }

    /// Returns the bytes of a file; nil if the folder has no regular file of this name. Symbolic links are not
    /// followed, so nothing outside of the folder is served.
    ///
    /// - Throws: `CocoaError` if the file cannot be read.
    func file(_ name: String) throws -> Data? {
        guard WebFileType.isName(name) else { return nil }
        let path = url.appending(path: name).path
        // Reading must not wait for something that is no file, such as a pipe.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let length = OpenFile.regularLength(descriptor), length <= Self.largest else { return nil }
        return try handle.readToEnd() ?? Data()
    }
}
