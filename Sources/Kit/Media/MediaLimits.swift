import Foundation

/// The limits of work on pictures and documents. The defaults suit a machine with two cores, and ordinary photos do not
/// reach them.
package struct MediaLimits: Sendable, Equatable {
    /// Child processes at a time; one more for short work.
    package var children = 2
    /// Jobs that may wait for a child process; more are ``MediaError/overloaded``.
    package var waiting = 64
    /// Pixels of a picture whose work is short: it does not wait for that on larger ones.
    package var shortPixels = 2_000_000
    /// Bytes of Larder's own documents whose work is short.
    package var shortBytes = 4 << 20
    /// Largest picture file in bytes.
    package var pictureBytes = 64 << 20
    /// Largest picture in pixels, by its header.
    package var picturePixels = 100_000_000
    /// Widest picture of a page, in pixels.
    package var pageWidth = 2000
    /// Largest PDF that is read, in bytes.
    package var pdfBytes = 500 << 20
    /// The most pages of a document.
    package var pdfPages = 5000
    /// Longest text that is typeset, in bytes of UTF-8.
    package var textBytes = 1 << 20
    /// The most pages of a text.
    package var textPages = 500
    /// Largest office file in bytes.
    package var officeBytes = 64 << 20
    package var vips = ChildLimits(memory: 1536 << 20, processor: .seconds(10), wall: .seconds(15))
    /// Limits of `pdftoppm`. With less than 1 GiB it draws white pages instead of failing.
    package var pdftoppm = ChildLimits(memory: 1 << 30, processor: .seconds(10), wall: .seconds(15))
    /// Limits of `soffice`, of which one runs at a time.
    package var soffice = ChildLimits(memory: 4 << 30, processor: .seconds(60), wall: .seconds(60), openFiles: 1024)
    /// Limits of `larder-pdf-worker`; its time is longer by that of `vips` for each picture that it decodes.
    package var pdfWorker = ChildLimits(
        memory: 1 << 30,
        processor: .seconds(30),
        wall: .seconds(60),
        fileBytes: 1 << 30
    )

    package init() {}

    /// Returns the limits of a worker that decodes pictures; with them it has at least the memory of `vips`.
    func pdfWorker(pictures: Int) -> ChildLimits {
        guard pictures > 0 else { return pdfWorker }
        var limits = pdfWorker
        limits.memory = max(pdfWorker.memory, vips.memory)
        limits.processor += vips.processor * pictures
        limits.wall += vips.wall * pictures
        return limits
    }
}

/// The limits of a child process (setrlimit(2)), and its deadline.
package struct ChildLimits: Sendable, Equatable {
    /// Address space, in bytes.
    package var memory: Int
    /// Processor time; whole seconds.
    package var processor: Duration
    /// Wall time from its start until it is killed.
    package var wall: Duration
    /// Largest file that it may write, in bytes.
    package var fileBytes = 512 << 20
    /// Files that it may have open.
    package var openFiles = 256
    /// Bytes of its standard output, and of its standard error, that are kept; the rest is read and discarded.
    package var capturedBytes = 1 << 20

    /// The arguments of prlimit(1). The soft limit of processor time is a second below the hard one, so that SIGXCPU
    /// distinguishes it from other kills.
    ///
    /// A limit of this process that is lower stays: it cannot be raised without a privilege.
    var arguments: [String] {
        let seconds = Self.capped(max(1, Int(processor.components.seconds)), RLIMIT_CPU)
        return [
            "--as=\(Self.capped(memory, RLIMIT_AS))",
            "--cpu=\(seconds):\(Self.capped(seconds + 1, RLIMIT_CPU))",
            "--fsize=\(Self.capped(fileBytes, RLIMIT_FSIZE))",
            "--core=0",
            "--nofile=\(Self.capped(openFiles, RLIMIT_NOFILE))",
        ]
    }

    /// Whether this process may use less memory than a child should.
    var isMemoryReduced: Bool { Self.capped(memory, RLIMIT_AS) < memory || Self.capped(memory, RLIMIT_DATA) < memory }

    private static func capped(_ value: Int, _ resource: __rlimit_resource) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return value }
        return Int(min(UInt64(value), UInt64(limit.rlim_max)))
    }
}
