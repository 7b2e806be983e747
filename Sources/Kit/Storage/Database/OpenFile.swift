package import Foundation

/// An open file descriptor, closed with the last reference. Unlike Foundation's `FileHandle` it tells a full disk from
/// a missing right, and child processes do not inherit it.
package final class OpenFile: Sendable {
    package let path: String
    let descriptor: Int32

    /// Opens `path` with the `flags` of open(2) and `O_CLOEXEC`. Creates files with mode 0600.
    package init(_ path: String, _ flags: Int32) throws {
        let descriptor = retryingInterrupts { open(path, flags | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else {
            if flags & O_ACCMODE == O_RDONLY, errno == EACCES { throw StorageError.notReadable(path: path) }
            throw StorageError.system(errno, path: path, operation: "open")
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        // close(2) reports nothing that fsync(2) has not reported before, and a reader loses nothing.
        close(descriptor)
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let written = retryingInterrupts { Foundation.write(descriptor, rest.baseAddress, rest.count) }
            guard written >= 0 else { throw StorageError.system(errno, path: path, operation: "write") }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }

    /// Reads up to `count` bytes from `offset` on; fewer only at the end of the file.
    package func read(at offset: Int, count: Int) throws -> Data {
        var data = Data(count: count)
        var filled = 0
        try data.withUnsafeMutableBytes { buffer in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                let got = retryingInterrupts { pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled)) }
                guard got >= 0 else { throw StorageError.system(errno, path: path, operation: "read") }
                if got == 0 { break }
                filled += got
            }
        }
        return filled == count ? data : data.prefix(filled)
    }

    /// Opens a file for reading; nil if there is none.
    static func ifPresent(_ path: String) throws -> OpenFile? {
        do {
            return try OpenFile(path, O_RDONLY)
        } catch StorageError.inputOutput(_, _, ENOENT) {
            return nil
        }
    }

    func length() throws -> Int {
        var status = stat()
        try StorageError.check("fstat", path) { fstat(descriptor, &status) }
        return Int(status.st_size)
    }

    /// Returns the length of a regular file; nil for others, such as pipes.
    package static func regularLength(_ descriptor: Int32) -> Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// Writes the bytes, or the entries of a directory, to the disk (fsync(2)).
    package func synchronize() throws {
        try StorageError.check("fsync", path) { retryingInterrupts { fsync(descriptor) } }
    }

    /// Writes a new file and synchronizes it to the disk. It appears completely or not at all, and replaces nothing.
    package static func create(_ path: String, _ bytes: some ContiguousBytes, synchronizes: Bool = true) throws {
        let unfinished = path + ".part"
        try StorageError.check("unlink", unfinished, except: ENOENT) { unlink(unfinished) }
        let file = try OpenFile(unfinished, O_WRONLY | O_CREAT | O_EXCL)
        defer { unlink(unfinished) }
        try bytes.withUnsafeBytes { try file.write($0) }
        if synchronizes { try file.synchronize() }
        // link(2) fails where rename(2) would replace a file that something depends on.
        try StorageError.check("link", path) { link(unfinished, path) }
        if synchronizes { try synchronizeDirectory((path as NSString).deletingLastPathComponent) }
    }

    /// Returns the names in a directory, in no order.
    package static func names(in path: String) throws -> [String] {
        guard let directory = opendir(path) else {
            if errno == EACCES { throw StorageError.notReadable(path: path) }
            throw StorageError.system(errno, path: path, operation: "opendir")
        }
        defer { closedir(directory) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(directory) else {
                guard errno == 0 else { throw StorageError.system(errno, path: path, operation: "readdir") }
                return names.filter { $0 != "." && $0 != ".." }
            }
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            )
        }
    }

    /// How often a removal begins again, so that a file that is made over and over ends it.
    private static let removals = 1_000

    /// Removes everything in a directory, and not the directory.
    package static func removeContents(of path: String) throws {
        for name in try names(in: path) { try remove("\(path)/\(name)") }
    }

    /// Removes a file, or a directory with everything in it, also if others remove parts of it meanwhile, or add some.
    /// If it does not exist, nothing happens.
    package static func remove(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw StorageError.system(errno, path: path, operation: "lstat")
        }
        if status.st_mode & S_IFMT == S_IFDIR { return try removeDirectory(path) }
        try StorageError.check("unlink", path, except: ENOENT) { unlink(path) }
    }

    private static func removeDirectory(_ path: String) throws {
        for _ in 0..<removals {
            if rmdir(path) == 0 || errno == ENOENT { return }
            guard errno == ENOTEMPTY || errno == EEXIST else {
                throw StorageError.system(errno, path: path, operation: "rmdir")
            }
            do {
                try removeContents(of: path)
            } catch {
                // Another removal was faster.
                if access(path, F_OK) != 0, errno == ENOENT { return }
                throw error
            }
        }
        throw StorageError.system(ENOTEMPTY, path: path, operation: "rmdir")
    }

    /// Synchronizes a directory, so that names created, renamed or removed in it survive a loss of power.
    package static func synchronizeDirectory(_ path: String) throws {
        try OpenFile(path, O_RDONLY | O_DIRECTORY).synchronize()
    }
}

/// Repeats a system call that a signal interrupted.
func retryingInterrupts<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

/// Returns the status of a file; nil if it cannot be read.
///
/// - Parameter follows: Whether a symbolic link is followed.
func fileStatus(_ path: String, follows: Bool = false) -> stat? {
    var status = stat()
    return (follows ? stat(path, &status) : lstat(path, &status)) == 0 ? status : nil
}

extension StorageError {
    /// Makes a system call on `path` that returns 0, or throws its error.
    ///
    /// - Parameter ignored: The `errno` of a failure that does not matter.
    static func check(_ operation: String, _ path: String, except ignored: Int32? = nil, _ call: () -> Int32) throws {
        guard call() != 0, errno != ignored else { return }
        throw system(errno, path: path, operation: operation)
    }

    /// Returns the error for an `errno` after `operation` failed on `path`.
    package static func system(_ code: Int32, path: String, operation: String) -> StorageError {
        switch code {
        case ENOSPC, EDQUOT: .diskFull(path: path)
        case EACCES, EPERM, EROFS: .notWritable(path: path)
        default: .inputOutput(path: path, operation: operation, code: code)
        }
    }
}
