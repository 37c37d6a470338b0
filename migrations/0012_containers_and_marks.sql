-- What is known of the container an attempt worked in; absent where nothing is.
ALTER TABLE steps ADD COLUMN container TEXT; -- JSON: core::container::Container

-- Whether an administrator says that the result stands; empty: nobody does.
ALTER TABLE runs ADD COLUMN verified TEXT NOT NULL DEFAULT ''; -- JSON: core::verification::Verified
