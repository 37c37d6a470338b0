-- The container engine that worked on an evolution last, and what it could promise:
-- the words of views::container::Engine.
ALTER TABLE evolutions ADD COLUMN engine TEXT;
