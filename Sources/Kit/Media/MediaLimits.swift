/// Everything that bounds work on pictures and documents. The defaults are what an ordinary machine with two cores
/// bears and ordinary photos never meet.
public struct MediaLimits: Sendable, Equatable {
    /// Children at a time.
    public var children = 2
    /// Jobs that may wait for a child's turn; more are ``MediaError/overloaded``.
    public var waiting = 64
    /// Largest picture file in bytes.
    public var pictureBytes = 64 << 20
    /// Largest picture in pixels, by its head.
    public var picturePixels = 100_000_000
    /// Widest picture of a page, in pixels.
    public var pageWidth = 2000
    /// Largest PDF that is read, in bytes.
    public var pdfBytes = 500 << 20
    /// Most pages of a document.
    public var pdfPages = 5000
    /// Longest text that becomes pages, in bytes of UTF-8.
    public var textBytes = 1 << 20
    /// Most pages that a text becomes.
    public var textPages = 500
    /// Largest office file in bytes.
    public var officeBytes = 64 << 20
    /// What `vips` may use.
    public var vips = ChildLimits(memory: 1536 << 20, processor: .seconds(10), wall: .seconds(15))
    /// What `pdftoppm` may use. Under 1 GiB it answers white pages instead of failing.
    public var pdftoppm = ChildLimits(memory: 1 << 30, processor: .seconds(10), wall: .seconds(15))
    /// What `soffice` may use; one at a time.
    public var soffice = ChildLimits(memory: 4 << 30, processor: .seconds(60), wall: .seconds(60), openFiles: 1024)
    /// What `larder-pdf-worker` may use.
    public var pdfWorker = ChildLimits(memory: 1 << 30, processor: .seconds(30), wall: .seconds(60), fileBytes: 1 << 30)

    /// The defaults.
    public init() {}
}
