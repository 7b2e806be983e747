import Foundation

/// A reference that each thread has of its own, for the time of a call (`pthread_setspecific`).
final class ThreadSpecific<Value: AnyObject>: Sendable {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        // A process has at least 128 keys, and this one takes one for all of its life.
        let status = pthread_key_create(&key, nil)
        precondition(status == 0, "no key for a thread's own value is left")
        self.key = key
    }

    /// The value of the running call on this thread; nil outside of one.
    var value: Value? {
        pthread_getspecific(key).map { Unmanaged<Value>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs a call that does not suspend, during which this thread has a value.
    ///
    /// - Throws: What `body` throws.
    func with<Result>(_ value: Value, _ body: () throws -> Result) rethrows -> Result {
        let before = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(value).toOpaque())
        defer {
            pthread_setspecific(key, before)
            withExtendedLifetime(value) {}
        }
        return try body()
    }
}
